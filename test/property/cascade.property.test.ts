/** Random records and policies through HTTP: a deletion has exactly the effects that a simple model and its dry run predict, or none. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { databaseCasesOf } from '../budget.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const CASES = databaseCasesOf(30);
/** Number of cases in which every outcome occurs. */
const MANY_CASES = 500;
const REFERENCES = {
  goes: { to: 'Aaa', onDelete: 'cascade' },
  joins: { to: 'Bbb', onDelete: 'cascade' },
  loses: { to: 'Aaa', onDelete: 'setNull' },
  keeps: { to: 'Bbb', onDelete: 'restrict' },
  among: { to: 'Bbb', onDelete: 'cascade', list: true },
  names: { to: 'Aaa', onDelete: 'restrict', list: true },
  drops: { to: 'Bbb', onDelete: 'setNull', list: true },
} as const;

type Reference = keyof typeof REFERENCES;
const NAMES = Object.keys(REFERENCES) as readonly Reference[];

/** Number of records of each resource. */
const COUNT = 4;
const resourceAt = (index: number): string => (index < COUNT ? 'Aaa' : 'Bbb');

/** The references of a record, as indexes. */
interface RandomRecord {
  readonly flag: boolean;
  readonly references: Readonly<Record<Reference, readonly number[]>>;
}

const randomReference = (name: Reference): fc.Arbitrary<readonly number[]> => {
  const { to, onDelete } = REFERENCES[name];
  const first = to === 'Aaa' ? 0 : COUNT;
  const some = fc.uniqueArray(fc.integer({ min: first, max: first + COUNT - 1 }), {
    minLength: 1,
    maxLength: 'list' in REFERENCES[name] ? 2 : 1,
  });
  return fc.oneof(
    { weight: { restrict: 8, cascade: 2, setNull: 1 }[onDelete], arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: some },
  );
};
const record: fc.Arbitrary<RandomRecord> = fc.record({
  flag: fc.boolean(),
  references: fc.record(Object.fromEntries(NAMES.map((name) => [name, randomReference(name)]))) as fc.Arbitrary<RandomRecord['references']>,
});

/** Conditions on the deleted record, with their result. */
const CONDITIONS = {
  always: { conditions: [], holds: () => true },
  flagged: { conditions: [{ field: 'resource.flag', operator: 'eq', value: true }], holds: ({ flag }: RandomRecord) => flag },
  // Deletions and cleared references of the same cascade must not change a decision.
  free: {
    conditions: [{ field: 'resource.loses', operator: 'exists', value: false }],
    holds: ({ references }: RandomRecord) => references.loses.length === 0,
  },
  bound: {
    conditions: [{ field: 'resource.loses', operator: 'exists', value: true }],
    holds: ({ references }: RandomRecord) => references.loses.length > 0,
  },
  underFlagged: {
    conditions: [{ field: 'resource.goes.flag', operator: 'eq', value: true }],
    holds: ({ references }: RandomRecord, all: readonly RandomRecord[]) => references.goes.some((at) => all[at]?.flag === true),
  },
} as const;
const condition = fc.constantFrom<keyof typeof CONDITIONS>('always', 'always', 'always', 'flagged', 'free', 'bound', 'underFlagged');

let service: RunningService;
let asker: TestUser;
let policy: string;

beforeAll(async () => {
  const fields = NAMES.map((name) => {
    const { to, onDelete } = REFERENCES[name];
    const reference = `{ type: reference, to: ${to}, onDelete: ${onDelete} }`;
    return `  ${name}: ${'list' in REFERENCES[name] ? `{ type: list, of: ${reference} }` : reference}\n`;
  }).join('');
  const definition = (name: string): string => `name: ${name}\nfields:\n  flag: { type: boolean }\n${fields}`;
  const definitions = { 'Aaa.yaml': definition('Aaa'), 'Bbb.yaml': definition('Bbb') };
  service = await startService({ definitions, settings: { rateLimit: 0 } });
  asker = await service.user();
  policy = await service.createPolicy({ userId: asker.id, rules: [] });
});
afterAll(() => service.close());

const met = { 200: 0, 403: 0, 409: 0, cascaded: 0, cleared: 0 };

it('a deletion cascades, sets references to null, or is refused, as the model predicts', async () => {
  const check = async (all: readonly RandomRecord[], at: number, may: { readonly Aaa: string; readonly Bbb: string }): Promise<void> => {
    const ids = await store(all);
    const allows = (one: number): boolean => {
      const { holds } = CONDITIONS[may[resourceAt(one) as 'Aaa'] as keyof typeof CONDITIONS];
      return holds(all[one] as RandomRecord, all);
    };
    const rules = (['Aaa', 'Bbb'] as const).map((resource) => {
      const { conditions } = CONDITIONS[may[resource] as keyof typeof CONDITIONS];
      return { resource, action: 'delete', conditions };
    });
    await asAdmin('PUT', `/admin/api/policies/${policy}`, { rules: [...rules, ...MAY_READ] });
    const [before, model] = [await load(), predictDeletion(all, at)];
    const path = `/api/${resourceAt(at)}/${ids[at]}`;
    const preview = await service.call('DELETE', `${path}?dryRun=true`, { token: asker.token });
    expect(await load()).toEqual(before);
    const reply = await service.call('DELETE', path, { token: asker.token });
    expectPreview(preview, reply, { all, ids, at, deleted: model.deleted, allows });
    expectDryRunEntries(await entriesOf(preview), { deleted: model.deleted.size, allows: allows(at) });
    const entries = await entriesOf(reply);
    const denied = [...model.deleted].some((one) => !allows(one));
    const possible = [...(denied ? [403] : []), ...(model.isRestricted && allows(at) ? [409] : [])];
    expect(possible.length === 0 ? [200] : possible, reply.text).toContain(reply.status);
    expectEntries(entries, { deleted: new Set([...model.deleted].map((one) => ids[one] as string)), status: reply.status });
    expect(await load()).toEqual(reply.status === 200 ? withoutDeleted(before, { ids, deleted: model.deleted }) : before);
    met[reply.status as 200] += 1;
    if (reply.status === 200) met.cascaded += model.deleted.size - 1;
  };
  const records = fc.array(record, { minLength: 2 * COUNT, maxLength: 2 * COUNT });
  const may = fc.record({ Aaa: condition, Bbb: condition });
  await fc.assert(fc.asyncProperty(records, fc.nat({ max: 2 * COUNT - 1 }), may, check), { numRuns: CASES });
  // Few random cases may lack a rare outcome.
  if (CASES >= MANY_CASES) for (const [what, count] of Object.entries(met)) expect(count, what).toBeGreaterThan(CASES / 30);
});

/** The caller reads all records of one resource, and some of the other. */
const MAY_READ = [
  { resource: 'Aaa', action: 'read' },
  { resource: 'Bbb', action: 'read', conditions: [{ field: 'resource.flag', operator: 'eq', value: true }] },
];

interface Deletion {
  readonly all: readonly RandomRecord[];
  readonly ids: readonly string[];
  /** The index of the record to delete. */
  readonly at: number;
  readonly deleted: ReadonlySet<number>;
  allows(one: number): boolean;
}

interface Group {
  readonly field: Reference;
  readonly code?: string;
  readonly count: number;
  readonly ids: readonly string[];
}

/** Expects that the dry run predicts the response of the deletion, and names exactly the affected records that the caller may read. */
function expectPreview(preview: Reply, reply: Reply, { all, ids, at, deleted, allows }: Deletion): void {
  const withoutIds = ({ requestId: _, decisionId: __, ...problem }: Record<string, unknown>) => problem;
  if (!allows(at)) {
    expect(withoutIds(preview.body as Record<string, unknown>)).toEqual(withoutIds(reply.body as Record<string, unknown>));
    return;
  }
  expect(preview.status, preview.text).toBe(200);
  const data = preview.at('data') as { readonly [K in 'deleted' | 'cleared' | 'refused']: readonly Group[] } & {
    readonly problem?: object;
  };
  expect(data.problem === undefined ? undefined : withoutIds({ ...data.problem })).toEqual(
    reply.status === 200 ? undefined : withoutIds(reply.body as Record<string, unknown>),
  );
  const isReadable = (one: number): boolean => resourceAt(one) === 'Aaa' || all[one]?.flag === true;
  const refersBy = (name: Reference) => (one: number) => all[one]?.references[name].some((to) => to !== one && deleted.has(to)) === true;
  const expected = (holds: (one: number) => boolean): readonly string[] =>
    all.flatMap((_, one) => (isReadable(one) && holds(one) ? [ids[one] as string] : [])).sort();
  const found = (groups: readonly Group[]): readonly string[] => {
    for (const group of groups) expect(group.count).toBe(group.ids.length);
    return groups.flatMap((group) => group.ids).sort();
  };
  const byField = (groups: readonly Group[], name: Reference): readonly string[] => found(groups.filter(({ field }) => field === name));
  expect(found(data.deleted)).toEqual(expected((one) => one !== at && deleted.has(one)));
  for (const name of ['loses', 'drops'] as const)
    expect(byField(data.cleared, name)).toEqual(expected((one) => !deleted.has(one) && refersBy(name)(one)));
  const restricting = data.refused.filter(({ code }) => code === 'RECORD_REFERENCED');
  for (const name of ['keeps', 'names'] as const) expect(byField(restricting, name)).toEqual(expected(refersBy(name)));
  const denying = data.refused.filter(({ code }) => code === 'ACCESS_DENIED');
  expect(found(denying)).toEqual(expected((one) => one !== at && deleted.has(one) && !allows(one)));
}

/** Expects one entry per deleted record, and that no entry is of a performed deletion. */
function expectDryRunEntries(
  entries: readonly Readonly<Record<string, unknown>>[],
  { deleted, allows }: { readonly deleted: number; readonly allows: boolean },
): void {
  expect(entries).toHaveLength(allows ? deleted : 1);
  for (const { allowed, outcome } of entries) expect(outcome).toBe(allowed === true ? 'DRY_RUN' : undefined);
}

async function entriesOf(reply: Reply): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const entries = await service.decisions(`userId=${asker.id}&limit=40`);
  return entries.filter(({ requestId }) => requestId === reply.headers['x-request-id']);
}

/** Returns the records that a deletion cascades to, and `isRestricted` if another record restricts one of them. */
function predictDeletion(
  all: readonly RandomRecord[],
  at: number,
): { readonly deleted: ReadonlySet<number>; readonly isRestricted: boolean } {
  const referencingOf = (target: number, onDelete: string): readonly number[] =>
    all.flatMap(({ references }, one) =>
      one !== target && NAMES.some((name) => REFERENCES[name].onDelete === onDelete && references[name].includes(target)) ? [one] : [],
    );
  const deleted = new Set([at]);
  // Iterating over a set includes elements that are added meanwhile.
  for (const one of deleted) for (const other of referencingOf(one, 'cascade')) deleted.add(other);
  return { deleted, isRestricted: [...deleted].some((one) => referencingOf(one, 'restrict').length > 0) };
}

type Stored = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly version: number;
  readonly loses: string | null;
  readonly drops: readonly string[];
};

/** Returns the remaining records with their versions. */
function withoutDeleted(
  before: readonly Stored[],
  { ids, deleted }: { ids: readonly string[]; deleted: ReadonlySet<number> },
): readonly Stored[] {
  const deletedIds = new Set([...deleted].map((one) => ids[one]));
  return before
    .filter(({ id }) => !deletedIds.has(id))
    .map((stored) => {
      const loses = deletedIds.has(stored.loses ?? '') ? null : stored.loses;
      const drops = stored.drops.filter((id) => !deletedIds.has(id));
      const cleared = Number(loses !== stored.loses) + Number(drops.length < stored.drops.length);
      met.cleared += cleared;
      return { ...stored, loses, drops, version: stored.version + cleared };
    });
}

function expectEntries(
  entries: readonly Readonly<Record<string, unknown>>[],
  { deleted, status }: { readonly deleted: ReadonlySet<string>; readonly status: number },
): void {
  const decided = entries.map(({ recordId }) => String(recordId));
  expect(new Set(decided).size).toBe(decided.length);
  for (const id of decided) expect(deleted).toContain(id);
  for (const { action } of entries) expect(action).toBe('delete');
  expect(entries.filter(({ allowed }) => allowed === false)).toHaveLength(status === 403 ? 1 : 0);
  if (status === 200) expect(decided).toHaveLength(deleted.size);
  else
    for (const { allowed, outcome } of entries) if (allowed) expect(outcome).toBe(status === 403 ? 'ACCESS_DENIED' : 'RECORD_REFERENCED');
}

/** Replaces the records of the previous case; returns the new ids. */
async function store(all: readonly RandomRecord[]): Promise<readonly string[]> {
  const left = await load();
  const requests = (await inBatch([
    ...left.map(({ id, resource }) => ({
      resource,
      action: 'update',
      id,
      data: Object.fromEntries(NAMES.map((name) => [name, null])),
    })),
    ...left.map(({ id, resource }) => ({ resource, action: 'delete', id })),
    ...all.map(({ flag }, index) => ({ resource: resourceAt(index), action: 'create', data: { flag } })),
  ])) as readonly { readonly data: { readonly id: string } }[];
  const ids = requests.slice(2 * left.length).map(({ data }) => data.id);
  const toValue = (name: Reference, indexes: readonly number[]): unknown => {
    const named = indexes.map((index) => ids[index]);
    return 'list' in REFERENCES[name] ? named : (named[0] ?? null);
  };
  await inBatch(
    all.map(({ references }, index) => ({
      resource: resourceAt(index),
      action: 'update',
      id: ids[index],
      data: Object.fromEntries(NAMES.map((name) => [name, toValue(name, references[name])])),
    })),
  );
  return ids;
}

async function load(): Promise<readonly (Stored & { readonly resource: string })[]> {
  const lists = (await inBatch(['Aaa', 'Bbb'].map((resource) => ({ resource, action: 'list' })))) as readonly { data: readonly Stored[] }[];
  return lists.flatMap(({ data }, index) =>
    data.map(({ updatedAt: _, ...stored }) => ({ ...(stored as Stored), resource: ['Aaa', 'Bbb'][index] ?? '' })),
  );
}

async function inBatch(requests: readonly object[]): Promise<unknown> {
  return (await asAdmin('POST', '/api/batch', { requests, atomic: true })).at('data');
}

async function asAdmin(method: string, path: string, body: object): Promise<Reply> {
  const reply = await service.call(method, path, { token: (await service.admin()).token, body });
  expect(reply.status, reply.text).toBe(200);
  return reply;
}
