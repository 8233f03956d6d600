/** Requests that ask for more work, or for larger answers, than a request or batch may have. The limits are bounds of rows and bytes, not of time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const NOTE = `
name: Note
fields:
  text:   { type: text, maxLength: 100000 }
  rank:   { type: integer, index: true }
  nextId: { type: reference, to: Note }
`;
const LINE = 'name: Line\nfields:\n  text: { type: string }\n  rank: { type: integer }\n';
const PAGE = LINE.replace('Line', 'Page');
const ANSWER_BYTES = 100_000;
const LARGE = 24;

let service: RunningService;
let admin: TestUser;
const ids: string[] = [];
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': NOTE }, settings: { answerBytes: ANSWER_BYTES } });
  admin = await service.admin();
  for (let n = 0; n < LARGE; n++) {
    ids.push(
      await service.createRecord('Note', {
        text: `${n} ${'é"\u2028'.repeat(2000)}`,
        rank: n % 5,
        ...(ids.length > 0 && { nextId: ids[0] }),
      }),
    );
  }
  const rule = { resource: 'Note', action: '*', effect: 'ALLOW', conditions: [] };
  const policy = await service.call('POST', '/admin/api/policies', {
    token: admin.token,
    body: { name: 'Notes for all', type: 'CUSTOM', rules: [rule] },
  });
  const assigned = await service.call('POST', `/admin/api/policies/${policy.at('data.id')}/assign/role/anon`, {
    token: admin.token,
    body: {},
  });
  expect([policy.status, assigned.status]).toEqual([201, 201]);
});
afterAll(() => service.close());

const call = (method: string, path: string, body?: unknown): Promise<Reply> => service.call(method, path, { token: admin.token, body });
const statusesOf = (reply: Reply): readonly number[] => (reply.at('data') as readonly { status: number }[]).map(({ status }) => status);
const list = (members: object): object => ({ resource: 'Note', action: 'list', ...members });

/** Loads all pages of a list, each at most as large as an answer may be. */
async function pages(members: object): Promise<readonly Reply[]> {
  const found: Reply[] = [];
  for (let cursor: unknown; found.length === 0 || cursor !== undefined; cursor = found.at(-1)?.at('nextCursor')) {
    const reply = await call('POST', '/api/Note/list', { ...members, ...(cursor !== undefined && { cursor, offset: undefined }) });
    expect(reply.status, reply.text).toBe(200);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(ANSWER_BYTES);
    found.push(reply);
  }
  return found;
}

const recordsOf = (reply: Reply): readonly { readonly id: string }[] => reply.at('data') as { id: string }[];

describe('the bytes of an answer', () => {
  it.each([
    ['a list', {}],
    ['a sorted list', { sort: ['-rank'] }],
    ['a list that is sorted by a field without an index', { sort: ['text'] }],
    ['a list with a filter', { where: { rank: { gte: 0 } } }],
    ['a list that memory filters', { where: { text: { matches: '.' } } }],
  ])('%s of large records has pages within the limit, with every record once', async (_, members) => {
    const found = await pages({ limit: 1000, ...members });
    expect(found.length).toBeGreaterThan(3);
    expect(found.flatMap((reply) => recordsOf(reply).map(({ id }) => id)).toSorted()).toEqual(ids.toSorted());
    expect(found[0]?.at('warnings')).toEqual([expect.stringContaining('answerBytes')]);
  });

  it('an offset counts across pages that end early', async () => {
    const found = await pages({ limit: 1000, offset: 5 });
    expect(found.flatMap((reply) => recordsOf(reply).map(({ id }) => id))).toEqual(ids.slice(5));
  });

  it('a batch of 40 lists of large records is within the limit, and refuses the lists that do not fit', async () => {
    const reply = await call('POST', '/api/batch', { requests: Array.from({ length: 40 }, () => list({ limit: 1000 })) });
    expect(reply.status).toBe(200);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(ANSWER_BYTES);
    const statuses = statusesOf(reply);
    expect([statuses[0], statuses[39]]).toEqual([200, 400]);
    expect([reply.at('data.39.error.code'), reply.at('data.39.error.detail')]).toEqual([
      'REQUEST_BUDGET',
      expect.stringContaining('answerBytes'),
    ]);
    expect(typeof reply.at('data.0.nextCursor')).toBe('string');
  });

  it('a batch of reads and updates is within the limit, and an update that does not fit changes nothing', async () => {
    const requests = ids.map((id, n) => ({
      resource: 'Note',
      action: n % 2 === 0 ? 'read' : 'update',
      data: { id, ...(n % 2 === 1 && { rank: 9 }) },
    }));
    const reply = await call('POST', '/api/batch', { requests });
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(ANSWER_BYTES);
    const statuses = statusesOf(reply);
    expect(new Set(statuses)).toEqual(new Set([200, 400]));
    const changed = await call('POST', '/api/Note/list', { where: { rank: 9 }, fields: ['rank'] });
    expect(changed.at('count')).toBe(statuses.filter((status, n) => status === 200 && n % 2 === 1).length);
  });

  it('refuses records that expand too far, in a list and in a read', async () => {
    for (const [path, status] of [
      [`/api/Note/${ids[0]}?expand=all:Note.nextId(100)`, 400],
      ['/api/Note?limit=2&expand=nextId', 200],
      ['/api/Note?limit=5&expand=nextId', 400],
    ] as const) {
      const reply = await call('GET', path);
      expect([path, reply.status, reply.at('code')]).toEqual([path, status, status === 400 ? 'REQUEST_BUDGET' : undefined]);
    }
  });

  it('callers without a token have a part of the limit', async () => {
    const reply = await service.call('POST', '/api/Note/list', { body: { limit: 1000 } });
    expect(reply.status).toBe(200);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(ANSWER_BYTES / 4);
    expect(reply.at('warnings')).toEqual([expect.stringContaining(`${ANSWER_BYTES / 4} bytes`)]);
  });
});

describe('the rows that a batch examines', () => {
  let bounded: RunningService;
  let token: string;
  const send = (path: string, body: unknown): Promise<Reply> => bounded.call('POST', path, { token, body });
  beforeAll(async () => {
    bounded = await startService({ definitions: { 'Note.yaml': NOTE, 'Line.yaml': LINE, 'Page.yaml': PAGE }, settings: { scanRows: 200 } });
    ({ token } = await bounded.admin());
    const imported = await send('/api/Note/import', { data: Array.from({ length: 24 }, (_, n) => ({ text: `small ${n}` })) });
    expect(imported.status).toBe(201);
  });
  afterAll(() => bounded.close());

  it('a hundred lists in one batch share the limit, and each is decided and recorded', async () => {
    const requests = Array.from({ length: 100 }, () => list({ where: { text: { matches: 'nothing' } } }));
    const reply = await send('/api/batch', { requests });
    // Eight lists of 24 records, and eight records of the ninth.
    expect(statusesOf(reply)).toEqual([...Array.from({ length: 9 }, () => 200), ...Array.from({ length: 91 }, () => 400)]);
    expect([reply.at('data.8.nextCursor'), reply.at('data.9.error.code')]).toEqual([expect.any(String), 'REQUEST_BUDGET']);
    const entries = await bounded.decisions('limit=100');
    expect(entries.filter(({ action, allowed }) => action === 'list' && allowed)).toHaveLength(100);
    expect(entries.filter(({ outcome }) => outcome === 'REQUEST_BUDGET')).toHaveLength(91);
  });

  it('callers without a token have a part of the rows', async () => {
    const rules = [{ resource: 'Page', action: 'list', effect: 'ALLOW', conditions: [] }];
    await bounded.createPolicy({ rules, role: 'anon' });
    const data = Array.from({ length: 64 }, (_, n) => ({ text: `other ${n}` }));
    expect((await send('/api/Page/import', { data })).status).toBe(201);
    const body = { where: { text: { matches: 'nothing' } } };
    const [own, anonymous] = [await send('/api/Page/list', body), await bounded.call('POST', '/api/Page/list', { body })];
    expect([own.at('warnings'), own.at('nextCursor')]).toEqual([undefined, undefined]);
    expect([anonymous.at('warnings'), anonymous.at('nextCursor')]).toEqual([
      [expect.stringContaining('50 rows (scanRows)')],
      expect.any(String),
    ]);
  });

  it('a write whose filter would examine too many records is refused and changes nothing', async () => {
    const data = Array.from({ length: 250 }, (_, n) => ({ text: `more ${n}` }));
    expect((await send('/api/Line/import', { data })).status).toBe(201);
    const filter = { text: { matches: '^more 249$' } };
    for (const action of ['updateIfExists', 'createIfNotExists']) {
      const reply = await send(`/api/Line/${action}`, { filter, data: { rank: 3 } });
      expect([reply.status, reply.at('code')]).toEqual([400, 'REQUEST_BUDGET']);
    }
    const first = await send('/api/Line/list', { where: filter });
    expect([first.at('data'), first.at('warnings')]).toEqual([[], [expect.stringContaining('200 rows (scanRows)')]]);
    const second = await send('/api/Line/list', { where: filter, cursor: first.at('nextCursor') });
    expect([second.at('data.0.rank'), second.at('count'), second.at('nextCursor')]).toEqual([null, 1, undefined]);
  });
});
