/** Export files: formats, the records that each user may export, and audit entries. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { withExpiringToken } from '../expiring-token.ts';
import { lines, startTransferService, type TransferService } from './transfer-service.ts';

// The tests of this file build on each other.
const it = createChain();

const ROWS = 700;
const SECRET = 'a secret of the tests of exports';

let transfer: TransferService;
beforeAll(async () => {
  transfer = await startTransferService({ jwtSecret: SECRET });
  const max = transfer.ids.max;
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    code: `P${String(index).padStart(4, '0')}`,
    title: index === 1 ? '=cmd()' : `Part ${index}`,
    stock: index - 1,
    price: index === 0 ? '-1.50' : null,
    secret: 'never shown',
    ...(index % 2 === 0 && { owner: max }),
  }));
  const imported = await transfer.send(lines(...rows), { query: 'onError=skip' });
  // The first row is rejected because its stock is negative.
  expect(imported.at('data')).toMatchObject({ imported: ROWS - 1, rejected: 1 });
  await transfer.send(lines({ code: 'P0000', title: 'a, "b"\nc', price: '-1.50', tags: ['x'], extra: { n: 1 }, owner: max }));
  await transfer.entries();
});
afterAll(() => transfer.close());

const EXPORT = { action: 'export', allowed: true };

describe('an export file', () => {
  it('exports every record in CSV with the requested fields, and escapes formulas', async () => {
    const reply = await transfer.fetch('format=csv', {
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
    const entries = await transfer.entries();
    expect(entries).toMatchObject([EXPORT]);
    expect(reply.headers['x-decision-id']).toBe(entries[0]?.['id']);
  });

  it('exports a CSV column for every field except secret fields', async () => {
    const [header] = (await transfer.fetch('format=csv', { body: { limit: 1 } })).text.split('\r\n');
    expect(header).toBe('id,version,createdAt,updatedAt,createdBy,code,title,stock,price,active,tags,extra,made,owner,notes,maker');
  });

  it('exports CSV with the requested delimiter, escaping, records and fields', async () => {
    const body = { sort: 'code', where: { code: { lte: 'P0001' } }, fields: ['title'] };
    const plain = (await transfer.fetch('format=csv&delimiter=;&escape=false', { body })).text.split('\r\n').map((row) => row.slice(37));
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
    ['', { accept: 'application/json, text/csv;q=0.5' }, 'application/json'],
    ['', { accept: 'text/csv;Q=0' }, 'application/json'],
    ['', { accept: 'text/csv;q=0.4, application/x-ndjson;q=0.9, application/json;q=0.1' }, 'application/x-ndjson'],
  ])('exports in the format that the query %j and the headers %j select', async (query, headers, type) => {
    const reply = await transfer.call('POST', `/api/Part/export?${query}`, { token: transfer.tokens.admin, body: { limit: 3 }, headers });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, expect.stringContaining(type)]);
    expect(reply.text).not.toContain('never shown');
  });

  it('exports each record once over many pages, and no secret field', async () => {
    for (const [format, read] of Object.entries({
      ndjson: (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      json: (text: string) => JSON.parse(text),
    })) {
      const reply = await transfer.fetch(`format=${format}`, { body: { sort: '-stock' } });
      const records = read(reply.text);
      expect(new Set(records.map(({ code }: { code: string }) => code)).size).toBe(ROWS);
      expect(records[0]).toMatchObject({ code: `P0${ROWS - 1}`, stock: ROWS - 2 });
      expect(Object.keys(records[0])).not.toContain('secret');
      expect(reply.text).not.toContain('never shown');
    }
  });

  it('ends an export at the limit of records', async () => {
    const reply = await transfer.fetch('format=ndjson', { body: { limit: 300, sort: 'code' } });
    expect(reply.text.trimEnd().split('\n')).toHaveLength(300);
  });

  it('exports a valid file without records', async () => {
    const body = { where: { code: 'none' }, fields: ['code'] };
    expect((await transfer.fetch('format=csv', { body })).text).toBe('id,code\r\n');
    expect((await transfer.fetch('format=json', { body })).text).toBe('[\n]\n');
    expect((await transfer.fetch('format=ndjson', { body })).text).toBe('');
  });
});

describe('an export', () => {
  it('exports only the records that the caller may export', async () => {
    await transfer.entries();
    const reply = await transfer.fetch('format=ndjson', { as: 'max' });
    const owners = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).owner);
    expect([owners.length, new Set(owners)]).toEqual([ROWS / 2, new Set([transfer.ids.max])]);
    expect(await transfer.entries()).toMatchObject([EXPORT]);
  });

  it('returns a problem instead of a file to a caller who may export nothing', async () => {
    const reply = await transfer.fetch('format=csv', { as: 'uwe' });
    expect([reply.status, reply.at('code'), reply.headers['content-disposition']]).toEqual([403, 'ACCESS_DENIED', undefined]);
    expect(await transfer.entries()).toMatchObject([{ action: 'export', allowed: false, id: reply.at('decisionId') }]);
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
  ])('rejects an export with an invalid parameter or body: %s %j', async (query, body, code) => {
    const reply = await transfer.fetch(query, { body });
    expect([reply.status, reply.at('code')]).toEqual([400, code]);
  });
});

describe('an export to a file with members of a page', () => {
  it('an export to a file is refused with a mistake for each member that asks for a page', async () => {
    const reply = await transfer.fetch('format=csv', { body: { cursor: 'x', total: true } });
    expect([reply.status, reply.at('code')]).toEqual([400, 'REQUEST_MALFORMED']);
    expect(reply.at('errors')).toMatchObject([
      { path: 'cursor', code: 'conflict' },
      { path: 'total', code: 'conflict' },
    ]);
  });
});

describe('an export in progress', () => {
  it('aborts an export in progress when its policy is deleted, with an audit entry', async () => {
    const policy = await transfer.createPolicy({ name: 'for a while', role: 'user', rules: [{ resource: 'Part', action: 'export' }] });
    // The file is larger than the buffers of a connection, so that the export waits for the client.
    const notes = 'x'.repeat(50_000);
    await transfer.send(lines(...Array.from({ length: 600 }, (_, index) => ({ code: `L${index}`, title: 'long', notes }))));
    await transfer.entries();
    const { ended, text } = await interrupted(transfer, async () => {
      const removed = await transfer.call('DELETE', `/admin/api/policies/${policy}`, { token: transfer.tokens.admin });
      expect(removed.status).toBe(200);
    });
    expect(ended).toBe('aborted');
    expect(text.split('\n').length).toBeLessThan(ROWS + 600);
    const entries = (await transfer.entries()).filter(({ action }) => action === 'export');
    expect(entries).toMatchObject([EXPORT, { action: 'export', allowed: false }]);
  });

  it('aborts an export in progress when its token expires, with an entry of the refused token', async () => {
    await transfer.createPolicy({ name: 'exports', role: 'user', rules: [{ resource: 'Part', action: 'export' }] });
    const { ended, text } = await withExpiringToken({ token: transfer.tokens.uwe, secret: SECRET }, async ({ token, refusedFrom }) => {
      const untilRefused = async (): Promise<void> => {
        while (Date.now() < refusedFrom) await new Promise((done) => setTimeout(done, 50));
      };
      const exported = await interrupted(transfer, untilRefused, token);
      return exported.status === 401 ? undefined : exported;
    });
    expect(ended).toBe('aborted');
    expect(text.split('\n').length).toBeLessThan(ROWS + 600);
    expect(await transfer.decisions('kind=auth&action=token&limit=1')).toMatchObject([{ outcome: 'IDENTITY_TOKEN_EXPIRED' }]);
  });
});

/** Starts an export as Uwe, runs `meanwhile` before reading the response, and returns its text and how it ended. */
function interrupted(
  { url, tokens }: TransferService,
  meanwhile: () => Promise<void>,
  token = tokens.uwe,
): Promise<{ status: number | undefined; ended: string; text: string }> {
  const { hostname, port } = new URL(url);
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const exporting = request({ hostname, port, method: 'POST', path: '/api/Part/export?format=ndjson', headers }, (response) => {
      let text = '';
      response.pause();
      meanwhile().then(() => response.resume(), reject);
      response.on('data', (chunk) => (text += chunk));
      const { statusCode: status } = response;
      response.on('end', () => resolve({ status, ended: 'complete', text }));
      response.on('error', () => resolve({ status, ended: 'aborted', text }));
    });
    exporting.on('error', reject);
    exporting.end();
  });
}
