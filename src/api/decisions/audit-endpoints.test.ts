import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, appendAuditEntries, createEntryId } from '../../audit/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { toRoute } from '../admin/index.ts';
import { adminEndpoints } from '../admin-routes.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
/** The appended entries, the first one first: reads of articles, one per day from 2026-01-01, and a change by an admin. */
let entries: readonly AuditEntry[];

function entryOf(day: number, changed: Partial<AuditEntry> = {}): AuditEntry {
  const request = { requestId: 'r1', ip: '192.0.2.1', epoch: 1 };
  const decision = {
    kind: 'access',
    userId: 'ann',
    role: 'user',
    resource: 'Article',
    action: 'read',
    allowed: true,
    reason: 'allowed',
  } as const;
  return { id: createEntryId(), at: `2026-01-0${day}T09:00:00.000Z`, ...decision, ...request, ...changed };
}

beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  entries = [
    entryOf(1),
    entryOf(2, { allowed: false, reason: 'no rule matched' }),
    entryOf(3, { resource: 'Removed' }),
    entryOf(4, { kind: 'admin', userId: 'ada', role: 'admin', resource: 'Policy', action: 'create' }),
  ];
  await admin.deps.database.transaction(async (tx) => appendAuditEntries(tx, entries));
});
afterAll(() => admin.pipeline.dispose());

interface Found {
  readonly data: readonly AuditEntry[];
  readonly count: number;
  readonly nextCursor?: string;
}
const search = (query: string): Promise<Found> => admin.bodyOf('admin.decisions.list', { query });

/** Returns the positions of the found entries in `entries`. The search ends before today: earlier searches have entries too. */
async function positions(query: string): Promise<readonly number[]> {
  const until = query.includes('to=') ? '' : '&to=2026-01-10';
  return (await search(`${query}${until}`)).data.map(({ id }) => entries.findIndex((entry) => entry.id === id));
}

describe('admin.decisions.list', () => {
  it.each([
    ['', [3, 2, 1, 0]],
    ['allowed=false', [1]],
    ['kind=admin', [3]],
    ['resource=Article&userId=ann&role=user&action=read', [1, 0]],
    ['from=2026-01-03', [3, 2]],
    ['to=2026-01-02T10:00:00%2B01:00', [0]],
    ['to=2026-01-02T10:00:01%2B01:00', [1, 0]],
    ['limit=1', [3]],
    ['not[resource]=Article', [3, 2]],
    ['not[resource]=Article,Policy', [2]],
    ['not[resource]=["Article","Removed"]', [3]],
    ['not[resource]=Removed&not[kind]=admin&allowed=true', [0]],
    ['not[recordId]=other', [3, 2, 1, 0]],
  ])('finds the entries of ?%s: %j', async (query, expected) => {
    expect(await positions(query)).toEqual(expected);
  });

  it('continues after the last entry of the previous page', async () => {
    const { nextCursor } = await search('limit=3&to=2026-01-10');
    expect(await positions(`limit=3&cursor=${nextCursor}`)).toEqual([0]);
  });

  it.each([
    ['limit=1001&kind=other&allowed=maybe&from=yesterday', 'REQUEST_PARAMETER limit:range kind:enum allowed:type from:format'],
    ['to=2026-01-31T09:00', 'REQUEST_PARAMETER to:format'],
    ['not[kind]=access,other', 'REQUEST_PARAMETER not.kind.1:enum'],
    ['not[allowed]=true', 'REQUEST_PARAMETER not.allowed:unknown'],
    ['not=Article', 'REQUEST_PARAMETER not:type'],
    ['not[role]=', 'REQUEST_PARAMETER not.role:tooShort'],
    ['not[role]=[1]', 'REQUEST_PARAMETER not.role.0:type'],
    ['not[role]=[', 'REQUEST_PARAMETER not.role:type'],
    ['not[role]=a,,b', 'REQUEST_PARAMETER not.role.1:tooShort'],
    [`not[role]=${'a,'.repeat(20)}a`, 'REQUEST_PARAMETER not.role:tooMany'],
    [`userId=${'x'.repeat(201)}`, 'REQUEST_PARAMETER userId:tooLong'],
    ['user=ann', 'REQUEST_PARAMETER user:unknown'],
    ['cursor=xyz', 'REQUEST_CURSOR'],
  ])('refuses the search ?%s with %s', async (query, expected) => {
    const [code, ...issues] = (await codeOf(search(query))).split(' ');
    expect([code, ...issues.toSorted()]).toEqual([expected.split(' ')[0], ...expected.split(' ').slice(1).toSorted()]);
  });
});

describe('admin.decisions.verify', () => {
  interface Verified {
    readonly data: { readonly whole: boolean; readonly entries: number };
    readonly nextCursor?: string;
  }
  const verify = (query: string): Promise<Verified> => admin.bodyOf('admin.decisions.verify', { query });

  it('verifies every entry, in one page or many', async () => {
    // Searches of other tests have entries too.
    const total = (await search('limit=1000')).count + 1;
    expect((await verify('')).data).toMatchObject({ whole: true, entries: total });
    let count = 0;
    for (let page = await verify('limit=1'); ; page = await verify(`limit=1&cursor=${page.nextCursor}`)) {
      count += page.data.entries;
      if (page.nextCursor === undefined) break;
    }
    expect(count).toBe(total);
  });

  it.each([
    ['limit=10001', 'REQUEST_PARAMETER limit:range'],
    ['cursor=xyz', 'REQUEST_CURSOR'],
  ])('refuses the verification ?%s with %s', async (query, expected) => {
    expect(await codeOf(verify(query))).toBe(expected);
  });

  it('ends when the time of the request is up', async () => {
    const { deps } = admin;
    const request = { method: 'GET' as const, params: new Map(), query: new Map(), body: undefined, header: () => undefined };
    const origin = admin.pipeline.originOf('ada');
    const endpoint = adminEndpoints.find(({ id }) => id === 'admin.decisions.verify');
    if (endpoint === undefined) throw new Error('no endpoint verifies the audit log');
    const verifying = toRoute({ ...deps, milliseconds: 0 }, endpoint).handle({ ...request, origin }, () => undefined);
    expect(await codeOf(verifying)).toBe('REQUEST_BUDGET');
  });
});

describe('admin.decisions.read', () => {
  const read = (position: number): Promise<{ readonly data: Record<string, unknown> }> =>
    admin.bodyOf('admin.decisions.read', { params: { id: entries[position]?.id ?? '' } });

  it('explains an access entry', async () => {
    expect((await read(1)).data).toMatchObject({ id: entries[1]?.id, reason: 'no rule matched', trace: [] });
  });

  it('warns if the trace differs from the recorded decision', async () => {
    expect((await read(0)).data['warnings']).toEqual([expect.stringContaining('differs from the recorded decision')]);
  });

  it('warns if the resource has no definition any more', async () => {
    expect((await read(2)).data).toMatchObject({ trace: [], warnings: [expect.stringContaining('Removed')] });
  });

  it('returns an entry of an admin without an explanation', async () => {
    expect((await read(3)).data).not.toHaveProperty('trace');
  });

  it('returns the names and the caller of an entry if they are asked for', async () => {
    const named = await admin.bodyOf('admin.decisions.read', { params: { id: entries[0]?.id ?? '' }, query: 'names=true' });
    expect(named).toMatchObject({ names: { users: { ann: 'Ann' } }, caller: { name: 'Ann', email: 'ann@example.com' } });
    const { data, ...others } = await read(0);
    expect([data['id'], others]).toEqual([entries[0]?.id, { success: true }]);
  });

  it('refuses an unknown id', async () => {
    expect(await codeOf(admin.send('admin.decisions.read', { params: { id: 'unknown' } }))).toBe('DECISION_UNKNOWN');
  });
});

describe('admin.analytics.read', () => {
  it('counts the decisions of the timeframe', async () => {
    const counts = (timeframe: string) => admin.bodyOf('admin.analytics.read', { query: `timeframe=${timeframe}` });
    expect(await counts('3660d')).toMatchObject({ data: { accessGrants: 2, accessDenials: 1 } });
    expect(await counts('1h')).toMatchObject({ data: { accessGrants: 0, accessDenials: 0 } });
  });

  it.each(['7y', '0d', 'd'])('refuses the timeframe %s', async (timeframe) => {
    expect(await codeOf(admin.send('admin.analytics.read', { query: `timeframe=${timeframe}` }))).toBe(
      'REQUEST_PARAMETER timeframe:format',
    );
  });
});

it('a search leaves out reads of admins and auditors with adminReads=false and refreshes with refreshes=false, and keeps denied ones and changes', async () => {
  const requestId = 'reads';
  // In an audit log of its own: the other tests count entries.
  const own = await openAdmin({ definitions: {} });
  const kept = [
    entryOf(9, { requestId }),
    entryOf(9, { requestId, kind: 'admin', resource: 'Admin', allowed: false }),
    entryOf(9, { requestId, kind: 'admin', resource: 'Policy' }),
    entryOf(9, { requestId, resource: '_Decision', allowed: false }),
    entryOf(9, { requestId, kind: 'auth', resource: 'Auth', action: 'refresh', allowed: false }),
    entryOf(9, { requestId, kind: 'auth', resource: 'Auth', action: 'login' }),
  ];
  const reads = [entryOf(9, { requestId, kind: 'admin', resource: 'Admin' }), entryOf(9, { requestId, resource: '_Decision' })];
  const refreshes = [entryOf(9, { requestId, kind: 'auth', resource: 'Auth', action: 'refresh' })];
  await own.deps.database.transaction(async (tx) => appendAuditEntries(tx, [...kept, ...reads, ...refreshes]));
  const found = async (query: string) => {
    const { data } = (await own.bodyOf('admin.decisions.list', { query: `requestId=${requestId}${query}` })) as Found;
    return new Set(data.map(({ id }) => id));
  };
  const expectFound = async (query: string, expected: readonly AuditEntry[]) =>
    expect(await found(query)).toEqual(new Set(expected.map(({ id }) => id)));
  await expectFound('&adminReads=false', [...kept, ...refreshes]);
  await expectFound('&refreshes=false', [...kept, ...reads]);
  await expectFound('&adminReads=false&refreshes=false', kept);
  for (const all of ['', '&adminReads=true&refreshes=true']) await expectFound(all, [...kept, ...reads, ...refreshes]);
  await own.pipeline.dispose();
});
