/** Versions, unique values and written guesses disclose nothing about records and fields that the caller may not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AttackTarget, type Body, type Caller, expectDiscreet, SECRETS, startAttackTarget, withoutIds } from './attack-target.ts';

let target: AttackTarget;
/** A second service, which requires If-Match for changes. */
let strict: AttackTarget;
beforeAll(async () => {
  [target, strict] = [await startAttackTarget(), await startAttackTarget({ ifMatch: 'required' })];
});
afterAll(async () => {
  await target.close();
  await strict.close();
});

const NOWHERE = '01890a5d-ac96-774b-bcce-b302099a8057';

/** Creates a request for one record, with or without a version. */
type Sending = (id: string, ifMatch: string | undefined) => Sent;
interface Sent {
  readonly send: string;
  readonly body?: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

const byHeader = (send: string, id: string, ifMatch: string | undefined, body?: Body): Sent => ({
  send: `${send}/${id}`,
  ...(body !== undefined && { body }),
  ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
});
const inBatch = (item: Readonly<Record<string, unknown>>, atomic = false): Sent => ({
  send: 'POST /api/batch',
  body: { atomic, requests: [{ resource: 'Case', ...item }] },
});

/** Every endpoint that takes a version. */
const ROUTES: readonly (readonly [name: string, sending: Sending])[] = [
  ['PUT', (id, ifMatch) => byHeader('PUT /api/Case', id, ifMatch, { title: 'x' })],
  ['DELETE', (id, ifMatch) => byHeader('DELETE /api/Case', id, ifMatch)],
  ['dry run', (id, ifMatch) => byHeader('DELETE /api/Case', `${id}?dryRun=true`, ifMatch)],
  ['action update', (id, ifMatch) => ({ send: 'POST /api/Case/update', body: { id, ifMatch, data: { title: 'x' } } })],
  ['action delete', (id, ifMatch) => ({ send: 'POST /api/Case/delete', body: { id, ifMatch } })],
  ['dry run by action', (id, ifMatch) => ({ send: 'POST /api/Case/delete', body: { id, ifMatch, dryRun: true } })],
  ['batch update', (id, ifMatch) => inBatch({ action: 'update', id, ifMatch, data: { title: 'x' } })],
  ['batch delete', (id, ifMatch) => inBatch({ action: 'delete', id, ifMatch })],
  ['atomic batch', (id, ifMatch) => inBatch({ action: 'update', id, ifMatch, data: { title: 'x' } }, true)],
];

async function ask(where: AttackTarget, caller: Caller, { send, body, headers = {} }: Sent): Promise<Reply> {
  const [method = '', path = ''] = send.split(' ');
  const reply = await where.as(caller, method, path, { body, headers });
  expectDiscreet(reply);
  return reply;
}

/** The response, with the id of the record replaced by a fixed text. */
const about = (reply: Reply, id: string): string => `${withoutIds(reply)} ${reply.headers.etag}`.replaceAll(id, '<record>');

describe.each(ROUTES)('the version of a hidden record, by %s', (route, sending) => {
  it.each<[string, string | undefined]>([
    ['its version', '"1"'],
    ['another version', '"99"'],
    ['any version', '*'],
    ['a weak version', 'W/"1"'],
    ['text that is not a version', 'latest'],
    ['no version', undefined],
  ])(`does not disclose the version of a hidden record by ${route}: %s gets the response for a missing record`, async (_what, ifMatch) => {
    for (const [where, who] of [
      [target, 'alice'],
      [target, 'anon'],
      [strict, 'alice'],
    ] as const) {
      const hidden = about(await ask(where, who, sending(where.cases.bob, ifMatch)), where.cases.bob);
      expect(hidden).toBe(about(await ask(where, who, sending(NOWHERE, ifMatch)), NOWHERE));
      const stored = await where.as('admin', 'GET', `/api/Case/${where.cases.bob}`);
      expect([stored.at('data.title'), stored.at('data.version')]).toEqual(["Bob's case", 1]);
    }
  });
});

it.each([{ 'if-none-match': '"1"' }, { 'if-none-match': '*' }, { 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' }])(
  'a conditional read of a hidden record is not a 304: %j',
  async (headers) => {
    for (const method of ['GET', 'HEAD']) {
      const hidden = await target.as('alice', method, `/api/Case/${target.cases.bob}`, { headers });
      expect([hidden.status, hidden.headers.etag, hidden.headers['last-modified']]).toEqual([403, undefined, undefined]);
    }
  },
);

/** Every endpoint that can write a taken value to a record of Alice. */
const UNIQUE: readonly (readonly [name: string, sent: (code: string, id: string) => Sent])[] = [
  ['create', (code) => ({ send: 'POST /api/Case', body: { title: 'x', code } })],
  ['action create', (code) => ({ send: 'POST /api/Case/create', body: { data: { title: 'x', code } } })],
  ['update', (code, id) => byHeader('PUT /api/Case', id, undefined, { code })],
  ['updateIfExists', (code, id) => ({ send: 'POST /api/Case/updateIfExists', body: { filter: { id }, data: { code } } })],
  [
    'createIfNotExists',
    (code) => ({ send: 'POST /api/Case/createIfNotExists', body: { filter: { title: 'none' }, data: { title: 'x', code } } }),
  ],
  ['import', (code) => ({ send: 'POST /api/Case/import', body: { data: [{ title: 'x', code }] } })],
  ['batch', (code) => inBatch({ action: 'create', data: { title: 'x', code } })],
  ['atomic batch', (code) => inBatch({ action: 'create', data: { title: 'x', code } }, true)],
];

describe.each(UNIQUE)('a value that a hidden record has, by %s', (route, sent) => {
  it(`refuses a value that a hidden record has, by ${route}, like a value of a visible record`, async () => {
    const mine = String((await target.as('alice', 'POST', '/api/Case', { body: { title: 'mine' } })).at('data.id'));
    const count = await target.countCases();
    const hidden = await ask(target, 'alice', sent('B-1', mine));
    const shown = await ask(target, 'alice', sent('A-1', mine));
    expect(hidden.text).toContain('"code":"RECORD_EXISTS"');
    expect(withoutIds(hidden)).toBe(withoutIds(shown));
    for (const text of ['B-1', "Bob's", target.cases.bob, target.ids.bob]) expect(hidden.text).not.toContain(text);
    expect(await target.countCases()).toBe(count);
    expect((await target.as('alice', 'DELETE', `/api/Case/${mine}`)).status).toBe(200);
  });
});

/** Every endpoint that can write a guess to the record with the secret value. */
const GUESSES: readonly (readonly [name: string, sent: (pin: string, id: string) => Sent])[] = [
  ['PUT', (pin, id) => byHeader('PUT /api/Case', id, undefined, { pin })],
  ['action update', (pin, id) => ({ send: 'POST /api/Case/update', body: { id, data: { pin } } })],
  ['updateIfExists', (pin, id) => ({ send: 'POST /api/Case/updateIfExists', body: { filter: { id }, data: { pin } } })],
  ['batch', (pin, id) => inBatch({ action: 'update', id, data: { pin } })],
  ['atomic batch', (pin, id) => inBatch({ action: 'update', id, data: { pin } }, true)],
  ['import by id', (pin, id) => ({ send: 'POST /api/Case/import?mode=upsert&key=id', body: [{ id, pin }] })],
  ['import by id, dry', (pin, id) => ({ send: 'POST /api/Case/import?mode=upsert&key=id&dryRun=true', body: [{ id, pin }] })],
];

describe.each(GUESSES)('a guess at a secret value, by %s', (route, sent) => {
  it.each(['alice', 'eve', 'admin'] as const)(
    `changes the record in the same way for a right and a wrong guess at a secret value, by ${route}, as %s`,
    async (caller) => {
      const id = target.cases.alice;
      const write = async (pin: string): Promise<string> => {
        await target.as('admin', 'PUT', `/api/Case/${id}`, { body: { pin: SECRETS.alice } });
        const before = await target.as('admin', 'GET', `/api/Case/${id}`);
        const reply = await ask(target, caller, sent(pin, id));
        const after = await target.as('admin', 'GET', `/api/Case/${id}`);
        expect(reply.text).toContain('"success":true');
        const versions = Number(after.at('data.version')) - Number(before.at('data.version'));
        return `${versions} ${withoutIds(reply)}`.replaceAll(/"version":\d+|"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '…');
      };
      expect(await write(SECRETS.alice)).toBe(await write('pin-of-nobody-0000'));
    },
  );
});

/** Rows that would change a hidden record, with its stored value and with another value. */
const ROWS: readonly (readonly [name: string, key: string, row: (where: AttackTarget, amount: number) => object])[] = [
  ['found by a unique value', 'code', (_, amount) => ({ code: 'B-1', amount })],
  ['found by its id', 'id', ({ cases }, amount) => ({ id: cases.bob, amount })],
];

describe.each(ROWS)('a row of an import that names a hidden record, %s', (what, key, row) => {
  it.each(['', '&dryRun=true', '&onError=skip', '&onError=skip&dryRun=true'])(
    `does not disclose by a row ${what} whether a value of a hidden record is stored, with the query "%s"`,
    async (query) => {
      const path = `/api/Case/import?mode=upsert&key=${key}${query}`;
      const headers = { 'content-type': 'application/x-ndjson' };
      const answers: string[] = [];
      for (const amount of [5, 6]) {
        const reply = await target.as('alice', 'POST', path, { raw: JSON.stringify(row(target, amount)), headers });
        expectDiscreet(reply);
        expect(reply.text).toContain('ACCESS_DENIED');
        answers.push(withoutIds(reply));
      }
      expect(answers[0]).toBe(answers[1]);
      expect((await target.as('admin', 'GET', `/api/Case/${target.cases.bob}`)).at('data.amount')).toBe(5);
    },
  );
});

it('an id of a hidden record in an import gets the same response as an unused id', async () => {
  const answers: string[] = [];
  for (const id of [target.cases.bob, NOWHERE]) {
    const reply = await target.as('alice', 'POST', '/api/Case/import?mode=upsert&key=id', {
      raw: JSON.stringify({ id, title: 'x' }),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    answers.push(withoutIds(reply).replaceAll(id, '<record>'));
  }
  expect(answers[0]).toContain('ACCESS_DENIED');
  expect(answers[0]).toBe(answers[1]);
});
