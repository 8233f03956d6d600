/** Values that the filters of the audit log exclude: the search, the counts, the export and the stream agree with a walk over all entries. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventStream } from '../event-stream.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n',
  'Memo.yaml': 'name: Memo\nfields:\n  text: { type: text }\n',
};

let service: RunningService;
let admin: TestUser;
let reader: TestUser;
/** A position of a stream before all entries. */
const start = Date.now().toString(36);
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  [admin, reader] = [await service.admin(), await service.user()];
  await service.createPolicy({ userId: reader.id, rules: [{ resource: 'Note', action: '*' }] });
  for (const path of ['/api/Note', '/api/Memo', '/api/Note/unknown', '/api/Note']) {
    // Denials of callers without a token have entries without a user.
    await service.call('GET', path, { token: reader.token });
    await service.call('GET', path);
  }
});
afterAll(() => service.close());

type Entry = Readonly<Record<string, unknown>>;

/** Filters, and the entries that each leaves out. */
const EXCLUSIONS: readonly (readonly [name: string, query: () => string, isExcluded: (entry: Entry) => boolean])[] = [
  ['a resource', () => 'not[resource]=Note', ({ resource }) => resource === 'Note'],
  ['two resources', () => 'not[resource]=Memo,Note', ({ resource }) => resource === 'Note' || resource === 'Memo'],
  ['a user, but not requests without one', () => `not[userId]=${reader.id}`, ({ userId }) => userId === reader.id],
  [
    'a problem and an action',
    () => 'not[outcome]=RECORD_UNKNOWN&not[action]=list',
    ({ outcome, action }) => outcome === 'RECORD_UNKNOWN' || action === 'list',
  ],
  ['a value that no entry has, as a JSON array', () => 'not[resource]=["a,b"]', () => false],
];

describe.each(EXCLUSIONS)('the audit log without %s', (_, toQuery, isExcluded) => {
  const get = async (path: string): Promise<Reply> => service.call('GET', `/admin/api/decisions${path}`, { token: admin.token });
  /** Only entries of requests to records: the tests add no more of them. */
  const filters = (): string => `kind=access&${encodeURI(toQuery())}`;
  const expected = async (): Promise<readonly Entry[]> =>
    ((await get('?kind=access&limit=1000')).at('data') as readonly Entry[]).filter((entry) => !isExcluded(entry));

  it('a search and an export contain all other entries', async () => {
    const rest = await expected();
    expect(rest.length).toBeGreaterThan(0);
    expect((await get(`?${filters()}&limit=1000`)).at('data')).toEqual(rest);
    const file = await get(`/export?${filters()}`);
    expect(
      file.text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    ).toEqual(rest);
  });

  it('facets and the histogram count all other entries', async () => {
    const rest = await expected();
    const facets = await get(`/facets?${filters()}&fields=resource,userId&top=100`);
    expect(facets.at('data.total')).toBe(rest.length);
    const shown = facets.at('data.facets.userId') as readonly { readonly value: string | null; readonly count: number }[];
    expect(new Map(shown.map(({ value, count }) => [value, count]))).toEqual(
      new Map([...Map.groupBy(rest, ({ userId }) => userId ?? null)].map(([value, own]) => [value, own.length])),
    );
    const buckets = (await get(`/histogram?${filters()}`)).at('data.buckets') as readonly { allowed: number; denied: number }[];
    expect(buckets.reduce((sum, { allowed, denied }) => sum + allowed + denied, 0)).toBe(rest.length);
  });

  it('a stream sends all other entries', async () => {
    const url = `${service.url}/admin/api/decisions/stream?${filters()}&seconds=0&after=${start}`;
    const stream = await openEventStream(url, { authorization: `Bearer ${admin.token}` });
    await stream.ended;
    const sent = stream.events.filter(({ name }) => name === 'entry').map(({ data }) => data['id']);
    expect(sent.toSorted()).toEqual((await expected()).map(({ id }) => id).toSorted());
  });
});
