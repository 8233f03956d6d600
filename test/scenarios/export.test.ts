/** Exports as files: what stands in them for whom, and which entries are left. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lines, startTransferService, type TransferService } from './transfer-service.ts';

const ROWS = 700;

let world: TransferService;
beforeAll(async () => {
  world = await startTransferService();
  const max = world.ids.max;
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    code: `P${String(index).padStart(4, '0')}`,
    title: index === 1 ? '=cmd()' : `Part ${index}`,
    stock: index - 1,
    price: index === 0 ? '-1.50' : null,
    secret: 'never shown',
    ...(index % 2 === 0 && { owner: max }),
  }));
  const made = await world.send(lines(...rows), { query: 'onError=skip' });
  // One has a stock below nothing.
  expect(made.at('data')).toMatchObject({ imported: ROWS - 1, rejected: 1 });
  await world.send(lines({ code: 'P0000', title: 'a, "b"\nc', price: '-1.50', tags: ['x'], extra: { n: 1 }, owner: max }));
  await world.entries();
}, 60_000);
afterAll(() => world.close());

const EXPORT = { action: 'export', allowed: true };

describe('a file', () => {
  it('of CSV has every record and field that may be shown, kept from being formulas', async () => {
    const reply = await world.fetch('format=csv', {
      body: { sort: 'code', fields: ['code', 'title', 'stock', 'price', 'tags', 'extra', 'active'] },
    });
    expect([reply.status, reply.headers['content-type'], reply.headers['content-disposition']]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      'attachment; filename="Part.csv"',
    ]);
    const rows = reply.text.split('\r\n');
    const id = '[0-9a-f-]{36}';
    expect(rows[0]).toBe('id,code,title,stock,price,tags,extra,active');
    expect(rows[1]).toMatch(new RegExp(`^${id},P0000,"a, ""b""\nc",,-1.50,"\\[""x""\\]","{""n"":1}",true$`));
    expect(rows[2]).toMatch(new RegExp(`^${id},P0001,'=cmd\\(\\),0,,,,true$`));
    expect(rows).toHaveLength(ROWS + 2);
    const entries = await world.entries();
    expect(entries).toMatchObject([EXPORT]);
    expect(reply.headers['x-decision-id']).toBe(entries[0]?.['id']);
  });

  it('of CSV has a column for every field but secret ones', async () => {
    const [header] = (await world.fetch('format=csv', { body: { limit: 1 } })).text.split('\r\n');
    expect(header).toBe('id,version,createdAt,updatedAt,createdBy,code,title,stock,price,active,tags,extra,made,owner,notes,maker');
  });

  it('of CSV is as asked for', async () => {
    const body = { sort: 'code', where: { code: { lte: 'P0001' } }, fields: ['title'] };
    const plain = (await world.fetch('format=csv&delimiter=;&escape=false', { body })).text.split('\r\n').map((row) => row.slice(37));
    expect(plain).toEqual(['', '"a, ""b""\nc"', '=cmd()', '']);
  });

  it.each([
    ['format=ndjson', {}, 'application/x-ndjson'],
    ['', { accept: 'application/x-ndjson' }, 'application/x-ndjson'],
    ['format=json', {}, 'application/json'],
    ['format=json', { accept: 'text/csv' }, 'application/json'],
    ['', { accept: 'text/html;q=0.5, text/csv' }, 'text/csv; charset=utf-8; header=present'],
    ['', { accept: '*/*' }, 'application/json'],
    ['', { accept: 'text/csv;q=0, application/json' }, 'application/json'],
  ])('is of the format that %j and %j name', async (query, headers, type) => {
    const reply = await world.call('POST', `/api/Part/export?${query}`, { token: world.tokens.admin, body: { limit: 3 }, headers });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, expect.stringContaining(type)]);
    expect(reply.text).not.toContain('never shown');
  });

  it('has each record once, over many pages, and no secret', async () => {
    for (const [format, read] of Object.entries({
      ndjson: (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      json: (text: string) => JSON.parse(text),
    })) {
      const reply = await world.fetch(`format=${format}`, { body: { sort: '-stock' } });
      const records = read(reply.text);
      expect(new Set(records.map(({ code }: { code: string }) => code)).size).toBe(ROWS);
      expect(records[0]).toMatchObject({ code: `P0${ROWS - 1}`, stock: ROWS - 2 });
      expect(Object.keys(records[0])).not.toContain('secret');
      expect(reply.text).not.toContain('never shown');
    }
  });

  it('ends at the limit', async () => {
    const reply = await world.fetch('format=ndjson', { body: { limit: 300, sort: 'code' } });
    expect(reply.text.trimEnd().split('\n')).toHaveLength(300);
  });

  it('is whole without a record', async () => {
    const body = { where: { code: 'none' }, fields: ['code'] };
    expect((await world.fetch('format=csv', { body })).text).toBe('id,code\r\n');
    expect((await world.fetch('format=json', { body })).text).toBe('[\n]\n');
    expect((await world.fetch('format=ndjson', { body })).text).toBe('');
  });
});

describe('who may export', () => {
  it('some has those', async () => {
    await world.entries();
    const reply = await world.fetch('format=ndjson', { as: 'max' });
    const owners = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).owner);
    expect([owners.length, new Set(owners)]).toEqual([ROWS / 2, new Set([world.ids.max])]);
    expect(await world.entries()).toMatchObject([EXPORT]);
  });

  it('nothing gets a problem, and no file', async () => {
    const reply = await world.fetch('format=csv', { as: 'uwe' });
    expect([reply.status, reply.at('code'), reply.headers['content-disposition']]).toEqual([403, 'ACCESS_DENIED', undefined]);
    expect(await world.entries()).toMatchObject([{ action: 'export', allowed: false, id: reply.at('decisionId') }]);
  });

  it.each([
    ['format=xml', {}, 'REQUEST_PARAMETER'],
    ['formt=csv', {}, 'REQUEST_PARAMETER'],
    ['format=csv&escape=no', {}, 'REQUEST_PARAMETER'],
    ['format=csv', { offset: 5 }, 'REQUEST_MALFORMED'],
    ['format=csv', { total: true }, 'REQUEST_MALFORMED'],
    ['format=csv', { where: { secret: 'never shown' } }, 'REQUEST_FIELD'],
    ['format=csv', { sort: 'secret' }, 'REQUEST_FIELD'],
    ['format=csv', { fields: ['secret'] }, 'REQUEST_FIELD'],
    ['format=csv', { fields: ['constructor'] }, 'REQUEST_FIELD'],
  ])('what it is not made for is refused: %s %j', async (query, body, code) => {
    const reply = await world.fetch(query, { body });
    expect([reply.status, reply.at('code')]).toEqual([400, code]);
  });
});

describe('what changes while an export goes on', () => {
  it('a policy taken away breaks it off, with an entry that says so', async () => {
    const policy = await world.createPolicy({ name: 'for a while', role: 'user', rules: [{ resource: 'Part', action: 'export' }] });
    // More than a connection holds on its way, so that it waits for its reader.
    const notes = 'x'.repeat(50_000);
    await world.send(lines(...Array.from({ length: 600 }, (_, index) => ({ code: `L${index}`, title: 'long', notes }))));
    await world.entries();
    const { ended, text } = await interrupted(world, async () => {
      const removed = await world.call('DELETE', `/admin/api/policies/${policy}`, { token: world.tokens.admin });
      expect(removed.status).toBe(200);
    });
    expect(ended).toBe('broken off');
    expect(text.split('\n').length).toBeLessThan(ROWS + 600);
    const entries = (await world.entries()).filter(({ action }) => action === 'export');
    expect(entries).toMatchObject([EXPORT, { action: 'export', allowed: false }]);
  }, 30_000);
});

/** Begins an export as Uwe, does something before reading on, and gives what came and how it ended. */
function interrupted({ url, tokens }: TransferService, meanwhile: () => Promise<void>): Promise<{ ended: string; text: string }> {
  const { hostname, port } = new URL(url);
  const headers = { authorization: `Bearer ${tokens.uwe}` };
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method: 'POST', path: '/api/Part/export?format=ndjson', headers }, (answer) => {
      let text = '';
      answer.pause();
      meanwhile().then(() => answer.resume(), reject);
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => resolve({ ended: 'whole', text }));
      answer.on('error', () => resolve({ ended: 'broken off', text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}
