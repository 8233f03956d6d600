/** The statements that load related records for the decisions of one request: one for equal conditions, and another one after each write. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateOwnPermissions } from '../../src/api/accounts/own-permissions.ts';
import { openPipeline, type TestPipeline, type TestRule } from '../../src/pipeline/pipeline.fixture.ts';
import type { RequestContext } from '../../src/pipeline/request-context.ts';
import { rollBackUnless } from '../../src/pipeline/roll-back.ts';
import { authorizeChange, authorizeRecord } from '../../src/pipeline/steps/authorize-action.ts';
import { decideOnEach } from '../../src/pipeline/steps/decide-request.ts';
import { authenticate } from '../../src/pipeline/unit-of-work.ts';
import { renderSql } from '../../src/sql.ts';
import { deleteRecord, loadRecords, type Query, type Transaction } from '../../src/storage/index.ts';
import { openTestDatabase, replaceMembers, resourceOf, type TestDatabase } from '../../src/storage/storage.fixture.ts';

const to = (name: string) => ({ type: 'reference', to: name, onDelete: 'setNull' });
const text = { type: 'string' };
const DEFINITIONS = {
  Folder: { fields: { parentId: { ...to('Folder'), onDelete: 'restrict', hierarchy: true } } },
  Tag: { fields: { name: text } },
  Membership: { softDelete: true, fields: { userId: text, team: text }, indexes: [{ fields: ['userId', 'team'] }] },
  Document: { fields: { team: text, folderId: to('Folder'), tagIds: { type: 'list', of: to('Tag') } } },
};
const RECORDS = {
  Folder: { f1: {}, f2: { parentId: 'f1' } },
  Tag: { t1: { name: 'open' } },
  Membership: { m1: { userId: 'ann', team: 'a' }, m2: { userId: 'ben', team: 'b' } },
  Document: {
    d1: { team: 'a', folderId: 'f2', tagIds: ['t1'] },
    d2: { team: 'b', folderId: 'f2', tagIds: ['t1'] },
    d3: { team: 'a', folderId: 'f2', tagIds: ['t1'] },
  },
};
const IDS = ['d1', 'd2', 'd3'];

let opened: TestDatabase;
let test: TestPipeline;
beforeAll(async () => {
  opened = openTestDatabase();
  test = await openPipeline({ definitions: DEFINITIONS, records: RECORDS, database: opened.database });
});
afterAll(async () => {
  await test.dispose();
  await opened.dispose();
});

const related = (on: object, more: object = {}) => ({ related: { resource: 'Membership', as: 'm', on, ...more } });
const IS_MEMBER = related({ userId: '${user.id}' });
const IN_TEAM = related({ userId: '${user.id}', team: '${resource.team}' });
const IN_FOLDER = { field: 'resource.folderId', operator: 'within', value: ['f1'] };
const IS_OPEN = { field: 'resource.tagIds.name', operator: 'eq', value: 'open' };

/** Runs decisions of Ann with one rule. Returns their result, and the number of statements that read a table. */
async function countLoads<T>(
  table: string,
  condition: object,
  work: (context: RequestContext) => Promise<T>,
): Promise<readonly [T, number]> {
  const rules = [{ resource: 'Document', conditions: [condition] }] as unknown as readonly TestRule[];
  let loads = 0;
  const result = await test.inContext({ as: 'ann', request: { action: 'list', resource: 'Document' }, rules }, async (context) => {
    const { tx } = context;
    const counted = (query: Query): Query => {
      const rendered = 'sql' in query ? query.sql : renderSql(query, tx.dialect.placeholder).sql;
      if (rendered.includes(`FROM "${table}"`)) loads++;
      return query;
    };
    const counting: Transaction = replaceMembers(tx, { all: (query) => tx.all(counted(query)), one: (query) => tx.one(counted(query)) });
    return work({ ...context, tx: counting });
  });
  return [result, loads];
}

async function decideAll(context: RequestContext): Promise<readonly string[]> {
  const { tx, resource } = context;
  const stored = await loadRecords(tx, resource, IDS);
  const records = IDS.flatMap((id) => stored.get(id) ?? []);
  return (await decideOnEach(context, { resource, action: 'read', records })).map(({ effect }) => effect);
}

describe('the decisions of a request', () => {
  it.each([
    ['the memberships of the caller', 'Membership', IS_MEMBER, 'allow allow allow', 1],
    ['the memberships of each team', 'Membership', IN_TEAM, 'allow deny allow', 2],
    ['the ancestors of a folder', 'Folder', IN_FOLDER, 'allow allow allow', 1],
    ['the records of a list', 'Tag', IS_OPEN, 'allow allow allow', 1],
  ])('the decisions of a request load once %s', async (_, table, condition, effects, loads) => {
    const [decided, counted] = await countLoads(table, condition, decideAll);
    expect([decided.join(' '), counted]).toEqual([effects, loads]);
  });

  it.each([
    ['the memberships of the caller', 'Membership', IS_MEMBER],
    ['the memberships of the team', 'Membership', IN_TEAM],
    ['the ancestors of a folder', 'Folder', IN_FOLDER],
    ['the records of a list', 'Tag', IS_OPEN],
  ])('the two decisions of an update load once %s', async (_, table, condition) => {
    const [, loads] = await countLoads(table, condition, async (context) => {
      const { tx, resource } = context;
      const update: RequestContext = { ...context, request: { ...context.request, action: 'update', id: 'd1' } };
      const found = [...(await loadRecords(tx, resource, ['d1'])).values()];
      const decision = await authorizeRecord(update, found);
      const proposals = found.map((record) => ({ record: { ...record, version: 2 }, values: {}, cleared: [], issues: [] }));
      await authorizeChange(update, { found, proposals, decision });
    });
    expect(loads).toBe(1);
  });

  it('the memberships are loaded once for all actions and records of a question of the caller', async () => {
    const caller = await authenticate(test.deps, test.originOf('ann'));
    const { policyStore } = test.deps;
    const ask = (context: RequestContext) =>
      evaluateOwnPermissions({ ...context, caller, policyStore }, { resource: 'Document', ids: IDS }, false);
    const [{ permissions }, loads] = await countLoads('Membership', IS_MEMBER, ask);
    expect([permissions.length, new Set(permissions.map(({ effect }) => effect)), loads]).toEqual([15, new Set(['allow']), 1]);
  });

  it('the memberships are loaded again after a write, and also after the write is undone', async () => {
    const [effects] = await countLoads('Membership', IS_MEMBER, async (context) => {
      const { tx, snapshot } = context;
      const leave = () => deleteRecord(tx, resourceOf(snapshot.definitions, 'Membership'), { id: 'm1', by: 'ann' });
      const decided = [await decideAll(context)];
      await rollBackUnless(tx, async () => {
        await leave();
        decided.push(await decideAll(context));
        return false;
      });
      decided.push(await decideAll(context));
      return decided.map(([first]) => first);
    });
    expect(effects).toEqual(['allow', 'deny', 'allow']);
  });

  it('an audit entry keeps only the memberships that its decision has read', async () => {
    const [facts] = await countLoads('Membership', IN_TEAM, async (context) => {
      await decideAll(context);
      return context.entries.map((entry) => JSON.stringify(entry.facts).match(/"m\d"/g));
    });
    expect(facts).toEqual([['"m1"'], null, ['"m1"']]);
  });
});
