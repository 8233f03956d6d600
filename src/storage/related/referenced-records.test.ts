import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPE_PARTS } from '../../../test/policy-fixtures.ts';
import { createScope, type RelatedRecords } from '../../authz/context/index.ts';
import { all, any, type Condition, evaluate, not, type Path, UNRESOLVED } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import type { ListQuery, Page } from '../lists/list-query.ts';
import { listRecords } from '../lists/record-lists.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import { define, openTestDatabase, resourceOf, testBudget, toRecord } from '../storage.fixture.ts';
import { loadReferenced } from './referenced-records.ts';

/** Two names of the maximum length that differ in the last character. */
const [LONG_A, LONG_B] = ['A', 'B'].map((last) => 'deskWithAName'.padEnd(62, 'x') + last) as [string, string];

const definitions = define({
  User: { fields: { email: { type: 'string' } } },
  Long: { fields: Object.fromEntries([LONG_A, LONG_B].map((name) => [name, { type: 'reference', to: 'Desk' }])) },
  Desk: {
    fields: {
      label: { type: 'string' },
      size: { type: 'integer' },
      code: { type: 'string', writeOnly: true },
      extra: { type: 'json' },
      leadId: { type: 'reference', to: 'Desk' },
    },
  },
  Note: { fields: { title: { type: 'string' }, deskId: { type: 'reference', to: 'Desk' }, parentId: { type: 'reference', to: 'Note' } } },
  Hub: { fields: Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`desk${index}`, { type: 'reference', to: 'Desk' }])) },
});
const [note, desk, hub] = [resourceOf(definitions, 'Note'), resourceOf(definitions, 'Desk'), resourceOf(definitions, 'Hub')];
const [long, user] = [resourceOf(definitions, 'Long'), resourceOf(definitions, 'User')];
const test = openTestDatabase();
afterAll(() => test.dispose());

const desks = [
  toRecord('d1', { label: 'news', size: 3, code: 'x', extra: { floor: 'one' } }),
  toRecord('d2', { size: 5, leadId: 'd1' }),
  toRecord('d3', { label: 'sports' }),
];
const notes: readonly StoredRecord[] = [
  toRecord('n1', { title: 'one', deskId: 'd1', createdBy: 'u1' }),
  toRecord('n2', { title: 'two', deskId: 'd2', parentId: 'n1' }),
  toRecord('n3', { title: 'three', parentId: 'n2', createdBy: 'https://issuer.example|u1' }),
  toRecord('n4', { title: 'news', deskId: 'd3', parentId: 'n1' }),
];
const hubs = [toRecord('h1', { desk0: 'd1' }), toRecord('h2', { desk69: 'd1' }), toRecord('h3', { desk69: 'd2' })];

beforeAll(async () => {
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    await insertRecord(tx, user, toRecord('u1', { email: 'ann@example.org' }));
    for (const record of desks) await insertRecord(tx, desk, record);
    for (const record of notes) await insertRecord(tx, note, record);
    for (const record of hubs) await insertRecord(tx, hub, record);
  });
});

function pathOf(text: string): Path {
  const [group, ...keys] = text.split('.');
  return { group: group as Path['group'], keys, text };
}

function compare(path: string, operator: string, value: Json): Condition {
  return { type: 'comparison', path: pathOf(path), operator, operand: { type: 'literal', value }, ifExists: false };
}

const parts = { ...SCOPE_PARTS, definitions, resource: note };
/** Related records, none of which is loaded. */
const NO_RELATED: RelatedRecords = { find: () => 'unknown', item: () => 'unknown', ancestors: () => 'unknown' };

const scopeFor: ListQuery['scopeFor'] = (record, { referenced }) => createScope({ ...parts, record, referenced });

function list(query: Partial<ListQuery>): Promise<Page> {
  const whole = { where: all([]), scopeFor, definitions, sort: [], limit: 10, budget: testBudget(), now: 0, timeZone: 'UTC', ...query };
  return test.database.transaction((tx) => listRecords(tx, note, whole));
}

/** Evaluates the condition on each note separately. */
async function idsOneByOne(where: Condition, path: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const record of notes) {
    const referring = { paths: [pathOf(path)], principal: { attributes: {} }, resource: note, record };
    const referenced = await test.database.transaction((tx) => loadReferenced(tx, definitions, referring));
    if (evaluate(where, scopeFor(record, { referenced, related: NO_RELATED })) === true) ids.push(record.id);
  }
  return ids;
}

/** A condition that is true for every note and cannot be compiled to SQL. */
const inMemory = compare('resource.title', 'matches', '.');

describe('conditions on referenced records', () => {
  const rows: readonly [path: string, operator: string, value: Json, ids: readonly string[]][] = [
    ['resource.deskId.label', 'eq', 'news', ['n1']],
    ['resource.deskId.label', 'ne', 'news', ['n4']],
    ['resource.deskId.size', 'gte', 3, ['n1', 'n2']],
    ['resource.deskId.label', 'exists', false, ['n2', 'n3']],
    ['resource.deskId.id', 'in', ['d2', 'd3'], ['n2', 'n4']],
    ['resource.deskId.version', 'eq', 1, ['n1', 'n2', 'n4']],
    ['resource.parentId.title', 'eq', 'one', ['n2', 'n4']],
    ['resource.deskId.extra.floor', 'eq', 'one', ['n1']],
    ['resource.deskId.leadId', 'eq', 'd1', ['n2']],
    ['resource.parentId.deskId.label', 'eq', 'news', ['n2', 'n4']],
    ['resource.parentId.parentId.deskId.size', 'eq', 3, ['n3']],
    ['resource.parentId.parentId.title', 'exists', false, ['n1', 'n2', 'n4']],
    ['resource.deskId.leadId.label', 'eq', 'news', ['n2']],
    ['resource.deskId.leadId.extra.floor', 'eq', 'one', ['n2']],
    ['resource.deskId.leadId.leadId.label', 'eq', 'news', []],
    ['resource.createdBy.email', 'eq', 'ann@example.org', ['n1']],
    ['resource.parentId.createdBy.email', 'eq', 'ann@example.org', ['n2', 'n4']],
    // Write-only and unknown fields have no value.
    ['resource.deskId.leadId.code', 'eq', 'x', []],
    ['resource.deskId.code', 'eq', 'x', []],
    ['resource.deskId.nothing', 'eq', 'x', []],
    ['resource.title.length', 'eq', 3, []],
  ];
  describe.each(rows)('%s %s %j', (path, operator, value, ids) => {
    const where = compare(path, operator, value);
    it(`evaluates ${path} ${operator} ${JSON.stringify(value)} record by record`, async () =>
      expect(await idsOneByOne(where, path)).toEqual(ids));
    it.each([
      ['in SQL', where],
      ['in memory', all([where, inMemory])],
    ])(`lists records by ${path} ${operator} ${JSON.stringify(value)} %s`, async (_, condition) =>
      expect((await list({ where: condition })).records.map(({ id }) => id)).toEqual(ids),
    );
    it(`matches the negation of ${path} ${operator} ${JSON.stringify(value)} only if the value is known`, async () => {
      const opposite = not(where);
      const listed = (await list({ where: opposite })).records.map(({ id }) => id);
      expect(listed).toEqual(await idsOneByOne(opposite, path));
      expect(listed.filter((id) => ids.includes(id))).toEqual([]);
    });
  });

  it('counts and paginates by a condition on a referenced record', async () => {
    const where = compare('resource.parentId.title', 'exists', true);
    const first = await list({ where, limit: 2, total: true });
    expect([first.records.map(({ id }) => id), first.total]).toEqual([['n2', 'n3'], 3]);
    const rest = await list({ where, limit: 2, after: first.next });
    expect([rest.records.map(({ id }) => id), rest.next]).toEqual([['n4'], undefined]);
  });

  it('joins the records of references with long names', async () => {
    const records = [toRecord('l1', { [LONG_A]: 'd1' }), toRecord('l2', { [LONG_B]: 'd1' }), toRecord('l3', { [LONG_A]: 'd3' })];
    const where = any([LONG_A, LONG_B].map((name) => compare(`resource.${name}.label`, 'eq', 'news')));
    const page = await test.database.transaction(async (tx) => {
      for (const record of records) await insertRecord(tx, long, record);
      const query = { where, scopeFor, definitions, sort: [], limit: 10, budget: testBudget(), now: 0, timeZone: 'UTC', total: true };
      return listRecords(tx, long, query);
    });
    expect([page.records.map(({ id }) => id), page.total]).toEqual([['l1', 'l2'], 2]);
  });

  it('evaluates a condition in memory if it needs too many joins', async () => {
    const each = [...hub.fields.keys()].filter((name) => name.startsWith('desk'));
    const where = any(each.map((name) => compare(`resource.${name}.label`, 'eq', 'news')));
    const ofHub: ListQuery['scopeFor'] = (record, { referenced }) => createScope({ ...parts, resource: hub, record, referenced });
    const query = { where, scopeFor: ofHub, definitions, sort: [], limit: 10, budget: testBudget(), now: 0, timeZone: 'UTC', total: true };
    const page = await test.database.transaction((tx) => listRecords(tx, hub, query));
    expect([page.records.map(({ id }) => id), page.total]).toEqual([['h1', 'h2'], undefined]);
  });

  it.each([
    [['resource.deskId.label'], ['label', 'size']],
    [
      ['resource.deskId.label', 'resource.deskId.extra.floor'],
      ['label', 'size', 'extra'],
    ],
  ])('loads a long field only if a path reads it: %j', async (paths, expected) => {
    const query = { paths: paths.map(pathOf), principal: { attributes: {} }, resource: note, record: { id: 'n1', deskId: 'd1' } };
    const referenced = await test.database.transaction((tx) => loadReferenced(tx, definitions, query));
    const loaded = referenced.get('resource.deskId') ?? {};
    expect(['label', 'size', 'code', 'extra'].filter((name) => Object.hasOwn(loaded, name))).toEqual(expected);
  });

  it('loads the references of the user, and nothing if no path continues beyond a reference', async () => {
    const withDesk = define({
      User: { fields: { deskId: { type: 'reference', to: 'Desk' } } },
      Desk: { fields: { label: { type: 'string' } } },
    });
    const principal = { id: 'u1', role: 'user', attributes: { deskId: 'd3' } };
    const referring = { paths: [pathOf('user.deskId.label')], principal, resource: note, record: UNRESOLVED } as const;
    const referenced = await test.database.transaction((tx) => loadReferenced(tx, withDesk, referring));
    expect([...referenced.keys()]).toEqual(['user.deskId']);
    const scope = createScope({ ...parts, definitions: withDesk, principal, referenced });
    expect(scope.valueOf(pathOf('user.deskId.label'))).toBe('sports');
    expect(scope.kindOf(pathOf('user.deskId.label'))).toEqual({ kind: 'text' });
    const unusable = { all: () => Promise.reject(new Error('queried')) } as never;
    expect((await loadReferenced(unusable, withDesk, { ...referring, paths: [pathOf('user.deskId')] })).size).toBe(0);
  });
});
