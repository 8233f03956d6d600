import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../../test/policy-fixtures.ts';
import { describePath, describeRelated } from '../../authz/context/index.ts';
import { type Condition, parseConditions, type Related } from '../../conditions/index.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { define, onPostgres, openTestDatabase, replaceMembers, type TestDatabase } from '../storage.fixture.ts';
import { createRelatedStore } from './related-records.ts';

const DEFINITIONS = define({
  Membership: { fields: { userId: { type: 'string' }, level: { type: 'string' } }, indexes: [{ fields: ['userId', 'level'] }] },
  Document: { fields: { title: { type: 'string' } } },
});
/** Twenty of each user. With a limit as a parameter, PostgreSQL reads all of them by the primary key. */
const MEMBERSHIPS = 2_000;

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
});
afterAll(() => test.dispose());

const isMember = (): Related => {
  const { condition } = parseConditions([{ related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}' } } }], {
    at: '',
    expressions: false,
    limits: LIMITS.conditions,
    describePath: describePath(DEFINITIONS, 'Document'),
    describeRelated: describeRelated(DEFINITIONS),
  });
  return condition as Condition & Related;
};

it.runIf(onPostgres)('The generic plan of PostgreSQL finds related records by their index', async () => {
  const plan = await test.database.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO "Membership" ("id", "version", "createdAt", "updatedAt", "userId", "level")
      SELECT 'm' || i, 1, '', '', 'u' || (i / 20), 'editor' FROM generate_series(1, ${sql.lit(MEMBERSHIPS)}) AS "n"(i)`);
    await tx.run(sql`ANALYZE "Membership"`);
    const sent: Sql[] = [];
    const all: Transaction['all'] = (query) => {
      sent.push(query as Sql);
      return tx.all(query);
    };
    const store = createRelatedStore(replaceMembers(tx, { all }), DEFINITIONS);
    await store.evaluate(() => store.find(isMember(), ['u7']));
    expect(sent).toHaveLength(1);
    const [query] = sent as [Sql];
    const text = renderSql(query, tx.dialect.placeholder).sql;
    return (await tx.all<{ 'QUERY PLAN': string }>(sql.raw(`EXPLAIN (GENERIC_PLAN, COSTS OFF) ${text}`))).map((row) => row['QUERY PLAN']);
  });
  expect(plan.join('\n')).toContain('ix_Membership$userId$level');
});
