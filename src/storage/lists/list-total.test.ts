/** Totals of lists while others write: they belong to the state of their page, and to the read set. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createScope } from '../../authz/context/index.ts';
import { ALWAYS, any, type Condition, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { resolveSort } from '../../request/index.ts';
import { sql } from '../../sql.ts';
import { createStatements, type Query, type Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord, updateRecord } from '../records.ts';
import {
  compare,
  define,
  emptyTables,
  onPostgres,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  scopesOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import type { ListQuery, Page } from './list-query.ts';
import { prepareList } from './prepare-list.ts';
import { listRecords } from './record-lists.ts';

const definitions = define({
  Task: { fields: { project: { type: 'string', index: true } } },
  Note: { fields: { taskId: { type: 'reference', to: 'Task' }, at: { type: 'integer', index: true } } },
  Log: { fields: { text: { type: 'string' } } },
  Folder: { fields: { parentId: { type: 'reference', to: 'Folder', hierarchy: true } } },
  File: { fields: { folderId: { type: 'reference', to: 'Folder' } } },
});
const [task, note, log] = [resourceOf(definitions, 'Task'), resourceOf(definitions, 'Note'), resourceOf(definitions, 'Log')];
const WATCH = new Map(['Task', 'Folder'].map((name) => [name, { links: [], isReferenced: true }]));

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());
beforeEach(async () => {
  await emptyTables(test, 'Note', 'Task', 'Log', 'File', 'Folder');
  await test.database.transaction(async (tx) => {
    for (const n of [1, 2, 3]) {
      await insertRecord(tx, task, toRecord(`t${n}`, { project: 'p0' }));
      await insertRecord(tx, note, toRecord(`n${n}`, { taskId: `t${n}`, at: n }));
    }
  });
});

/** The condition that the task of a note belongs to a project. */
const OF_PROJECT: Condition = {
  type: 'comparison',
  path: { group: 'resource', keys: ['taskId', 'project'], text: 'resource.taskId.project' },
  operator: 'eq',
  operand: { type: 'literal', value: 'p0' },
  ifExists: false,
};

/** The condition that a file lies below the folder `top`. */
const IN_TOP: Condition = {
  type: 'within',
  path: { group: 'resource', keys: ['folderId'], text: 'resource.folderId' },
  operand: { type: 'literal', value: 'top' },
  ifExists: false,
};

function list(tx: Transaction, query: Partial<ListQuery>, resource = note): Promise<Page> {
  return listRecords(tx, resource, {
    where: ALWAYS,
    definitions,
    now: 0,
    timeZone: 'UTC',
    scopeFor: scopesOf(resource),
    sort: resolveSort(note, [{ field: 'at', descending: false }]),
    budget: testBudget(),
    limit: 1,
    total: true,
    ...query,
  });
}

const LONG = { beginsLong: true };
const EACH = [
  ['short', {}],
  ['long', LONG],
] as const;
const toText = createStatements(() => '?');
const isCount = (query: Query): boolean => toText(query).sql.includes('count(*) AS "total"');

const insertNote = (id: string, at: number): Promise<void> =>
  test.database.transaction((tx) => insertRecord(tx, note, toRecord(id, { taskId: 't1', at })));

function move(id: string, { version, project }: { readonly version: number; readonly project: string }): Promise<unknown> {
  return test.database.transaction(async (tx) => {
    tx.addToReadSet({ watch: WATCH });
    await updateRecord(tx, task, { id, version, values: { project }, cleared: [], now: tx.now });
  });
}

const insertLog = (): Promise<void> => test.database.transaction((tx) => insertRecord(tx, log, toRecord('l', { text: 'x' })));

const loadState = (): Promise<unknown> => test.database.transaction((tx) => tx.all(sql`SELECT * FROM "_State" ORDER BY "id"`));

describe('a write', () => {
  it('changes the state only if a policy watches its records', async () => {
    const changes: boolean[] = [];
    for (const resource of [log, task]) {
      const before = await loadState();
      await test.database.transaction((tx) => {
        tx.addToReadSet({ watch: WATCH });
        return insertRecord(tx, resource, toRecord('new', {}));
      });
      changes.push(JSON.stringify(await loadState()) !== JSON.stringify(before));
    }
    expect(changes).toEqual([false, true]);
  });
});

describe('a total', () => {
  it.each([
    ['of all records', {}],
    ['of alternatives', { where: any(['t1', 't2', 't3'].map((id) => compare('taskId', 'eq', id))), sort: [] }],
  ] as const)('belongs to the state of its page if a record is added between them, in a list %s', async (_, query) => {
    const page = await test.database.transaction((tx) => {
      let isFirst = true;
      const one: Transaction['one'] = async (counted) => {
        if (isFirst && isCount(counted)) {
          isFirst = false;
          await insertNote('n0', 0);
        }
        return tx.one(counted);
      };
      return list(replaceMembers(tx, { one }), { ...query, limit: 2 });
    }, LONG);
    expect([
      { ids: ['n0', 'n1'], total: 4 },
      { ids: ['n1', 'n2'], total: 3 },
    ]).toContainEqual({ ids: page.records.map(({ id }) => id), total: page.total });
  });

  it.skipIf(!onPostgres)('needs no statement of its own in a short attempt', async () => {
    for (const [name, options] of EACH) {
      let counts = 0;
      const page = await test.database.transaction((tx) => {
        const one: Transaction['one'] = (query) => {
          if (isCount(query)) counts++;
          return tx.one(query);
        };
        return list(replaceMembers(tx, { one }), { where: OF_PROJECT });
      }, options);
      expect({ name, counts, total: page.total }).toEqual({ name, counts: name === 'short' ? 0 : 1, total: 3 });
    }
  });

  it.each(EACH)('needs one statement and no page with a limit of 0, in an attempt that is %s', async (_, options) => {
    const statements: string[] = [];
    const page = await test.database.transaction((tx) => {
      const noted = <T>(query: Query, run: () => T): T => {
        statements.push(toText(query).sql);
        return run();
      };
      const one: Transaction['one'] = (query) => noted(query, () => tx.one(query));
      const all: Transaction['all'] = (query) => noted(query, () => tx.all(query));
      return list(replaceMembers(tx, { one, all }), { where: OF_PROJECT, limit: 0, offset: 2 });
    }, options);
    expect(page).toEqual({ records: [], total: 3 });
    expect(statements).toEqual([expect.stringMatching(/^SELECT count\(\*\) AS "total"/)]);
  });

  it.skipIf(!onPostgres)('needs no count for a page that is the whole list', async () => {
    const counted = await test.database.transaction(async (tx) => {
      const pages: unknown[] = [];
      const all: Transaction['all'] = async (query) => {
        const rows = await tx.all<never>(query);
        pages.push((rows[0] as { $total?: unknown } | undefined)?.$total);
        return rows;
      };
      const { total } = await list(replaceMembers(tx, { all }), { limit: 3 });
      return { total, pages };
    });
    expect(counted).toEqual({ total: 3, pages: [null] });
  });

  it.skipIf(!onPostgres)('belongs to the state of a page that several statements have loaded', async () => {
    const insert = (id: string): Promise<void> => test.database.transaction((tx) => insertRecord(tx, note, toRecord(id, { taskId: 't1' })));
    for (const id of ['m1', 'm2']) await insert(id);
    const page = await test.database.transaction((tx) => {
      let isFirst = true;
      const all: Transaction['all'] = async (query) => {
        const rows = await tx.all<never>(query);
        if (isFirst) await insert('m3');
        isFirst = false;
        return rows;
      };
      // The first statement loads the records without a value, and the second one the others.
      return list(replaceMembers(tx, { all }), { limit: 2, after: { id: 'm1', keys: [null] } });
    });
    expect({ ids: page.records.map(({ id }) => id), total: page.total }).toEqual({ ids: ['m2', 'm3'], total: 6 });
  });

  it('belongs to the state of its page after a cursor and after an offset', async () => {
    await insertNote('n4', 4);
    await insertNote('n5', 5);
    for (const [, options] of EACH) {
      const first = await test.database.transaction((tx) => list(tx, { limit: 2 }), options);
      const second = await test.database.transaction((tx) => list(tx, { limit: 2, after: first.next }), options);
      const skipped = await test.database.transaction((tx) => list(tx, { limit: 2, offset: 3 }), options);
      const found = [first, second, skipped].map(({ records, total }) => [...records.map(({ id }) => id), total]);
      expect(found).toEqual([
        ['n1', 'n2', 5],
        ['n3', 'n4', 5],
        ['n4', 'n5', 5],
      ]);
    }
  });

  it.each([
    ['a record on which access depends', 1, () => move('t3', { version: 1, project: 'p1' }), { runs: 2, total: 2 }],
    ['such a record, without a page', 0, () => move('t3', { version: 1, project: 'p1' }), { runs: 2, total: 2 }],
    ['a record on which access does not depend', 1, insertLog, { runs: 1, total: 3 }],
  ] as const)('repeats its count only if the access to its records may have changed: %s', async (_, limit, change, expected) => {
    let runs = 0;
    const page = await test.database.transaction(async (tx) => {
      tx.addToReadSet({ watch: WATCH });
      const found = await list(tx, { where: OF_PROJECT, limit });
      // The record of the page stays: without the total, the read set would be current.
      if (runs++ === 0) await change();
      return found;
    }, LONG);
    expect({ runs, total: page.total }).toEqual(expected);
    expect(page.records.map(({ id }) => id)).toEqual(['n1'].slice(0, limit));
  });

  it('leaves a list that takes long after three changes of access', async () => {
    let runs = 0;
    const page = await test.database.transaction(async (tx) => {
      tx.addToReadSet({ watch: WATCH });
      const found = await list(tx, { where: OF_PROJECT });
      runs++;
      if (found.total !== undefined) await move('t3', { version: runs, project: runs % 2 === 0 ? 'p0' : 'p2' });
      return found;
    }, LONG);
    expect(page).toMatchObject({ withoutTotal: 'changes' });
    expect(runs).toBe(4);
  });

  it('repeats its count if a record moves after the records below others were loaded, and before the count', async () => {
    const [folder, file] = [resourceOf(definitions, 'Folder'), resourceOf(definitions, 'File')];
    await test.database.transaction(async (tx) => {
      await insertRecord(tx, folder, toRecord('top', {}));
      await insertRecord(tx, folder, toRecord('below', { parentId: 'top' }));
      for (const [id, folderId] of [
        ['f1', 'top'],
        ['f2', 'top'],
        ['f3', 'below'],
      ] as const)
        await insertRecord(tx, file, toRecord(id, { folderId }));
    });
    const move = (): Promise<unknown> =>
      test.database.transaction(async (tx) => {
        tx.addToReadSet({ watch: WATCH });
        await updateRecord(tx, folder, { id: 'below', version: 1, values: {}, cleared: ['parentId'], now: tx.now });
      });
    let runs = 0;
    const page = await test.database.transaction(async (tx) => {
      tx.addToReadSet({ watch: WATCH });
      const scopeWith = (): Scope =>
        createScope({
          principal: { role: 'user', attributes: {} },
          ...{ action: 'list', resource: file, record: UNRESOLVED },
          origin: { method: '', path: '', ip: '' },
          ...{ now: 0, timeZone: 'UTC', definitions },
        });
      const prepared = await prepareList(tx, {
        where: IN_TOP,
        resource: file,
        definitions,
        existence: undefined,
        timeZone: 'UTC',
        scopeWith,
      });
      if (runs++ === 0) await move();
      return list(tx, { ...prepared, decided: IN_TOP, sort: [] }, file);
    }, LONG);
    expect([page.total, page.records.map(({ id }) => id)]).toEqual([2, ['f1']]);
  });
});
