import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { migrate } from './migrations/migrate.ts';
import { insertRecord } from './records.ts';
import { define, onPostgres, openTestDatabase, replaceMembers, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';
import { type CandidateQuery, type Candidates, countUserValues, loadCandidates } from './user-queries.ts';

const user = resourceOf(SYSTEM, 'User');
let test: TestDatabase;

/** Ten users u0 … u9. Every third is an admin, u4 is inactive; u4, u5 and u8 have an assigned policy. */
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
  await test.database.transaction(async (tx) => {
    for (let index = 0; index < 10; index++) {
      const role = index % 3 === 0 ? 'admin' : 'user';
      const values = { email: `${index}@example.com`, password: 'hash', role, isActive: index !== 4 };
      await insertRecord(tx, user, toRecord(`u${index}`, values));
    }
    await tx.run(sql`INSERT INTO "_Policy" ("id", "name") VALUES ('p', 'p')`);
    for (const id of ['u4', 'u5', 'u8'])
      await tx.run(sql`INSERT INTO "_UserPolicy" ("id", "userId", "policyId") VALUES (${id}, ${id}, 'p')`);
  });
});
afterAll(() => test.dispose());

const load = (query: Partial<CandidateQuery>): Promise<Candidates> =>
  test.database.transaction((tx) => loadCandidates(tx, user, { roles: ['admin'], scanLimit: 100, ...query }));

describe('loadCandidates', () => {
  const rows: readonly [what: string, query: Partial<CandidateQuery>, ids: string, last: string | undefined][] = [
    ['users with a role or an assigned policy', {}, 'u0 u3 u5 u6 u8 u9', undefined],
    ['only users with an assigned policy if there are no roles', { roles: [] }, 'u5 u8', undefined],
    ['active users with a given id', { roles: [], also: ['u1', 'u4', 'unknown'] }, 'u1 u5 u8', undefined],
    ['no inactive users', { roles: ['admin', 'user'] }, 'u0 u1 u2 u3 u5 u6 u7 u8 u9', undefined],
    ['users after an id', { after: 'u5' }, 'u6 u8 u9', undefined],
    ['users of one batch', { scanLimit: 4 }, 'u0 u3', 'u3'],
    ['users of the next batch', { scanLimit: 4, after: 'u3' }, 'u5 u6', 'u7'],
    ['no user in a batch without matches', { scanLimit: 1, after: 'u0' }, '', 'u1'],
    ['users of the last batch, which may not be the last', { scanLimit: 2, after: 'u7' }, 'u8 u9', 'u9'],
    ['no user after the last id', { after: 'u9' }, '', undefined],
    ['no users by a role name that contains SQL', { roles: [`admin' OR 1 = 1 --`] }, 'u5 u8', undefined],
  ];
  it.each(rows)('loads candidates: %s', async (_, query, ids, last) => {
    const found = await load(query);
    expect([found.users.map(({ id }) => id).join(' '), found.last]).toEqual([ids, last]);
  });

  it('loads no write-only fields', async () => {
    expect((await load({})).users[0]).toMatchObject({ id: 'u0', email: '0@example.com', isActive: true });
    expect((await load({})).users[0]).not.toHaveProperty('password');
  });

  it.skipIf(onPostgres)('scans the primary key, so that a batch reads no more than scanLimit users', async () => {
    const plans: string[] = [];
    await test.database.transaction(async (tx) => {
      const explained = replaceMembers(tx, {
        all: async <Row>(query: Parameters<typeof tx.all>[0]): Promise<readonly Row[]> => {
          const plan = await tx.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query as ReturnType<typeof sql>}`);
          plans.push(...plan.map(({ detail }) => detail));
          return tx.all<Row>(query);
        },
      });
      await loadCandidates(explained, user, { roles: ['admin'], scanLimit: 4, after: 'u3' });
    });
    expect(plans.join('\n')).toMatch(/SEARCH User USING INDEX sqlite_autoindex_User_1 \(id>\?\)/);
    expect(plans.join('\n')).not.toMatch(/TEMP B-TREE|SCAN User|"role"|role=/);
  });
});

describe('countUserValues', () => {
  const definitions = define({
    User: {
      fields: {
        email: { type: 'email', required: true },
        isActive: { type: 'boolean', required: true },
        department: { type: 'string' },
        secret: { type: 'string', writeOnly: true },
        text: { type: 'string' },
      },
    },
  });
  const withFields = resourceOf(definitions, 'User');
  const own = openTestDatabase();
  afterAll(() => own.dispose());
  beforeAll(async () => {
    await migrate(own.database, definitions);
    await own.database.transaction(async (tx) => {
      for (const [id, values] of [
        ['u1', { department: 'sports', isActive: true }],
        ['u2', { department: '', isActive: true }],
        ['u3', { isActive: true, text: 'x' }],
        ['u4', { department: 'news', isActive: false }],
      ] as const)
        await insertRecord(tx, withFields, toRecord(id, { email: `${id}@example.com`, ...values }));
    });
  });
  const count = (limit: number) => own.database.transaction((tx) => countUserValues(tx, withFields, { limit }));

  it('counts active users, in optional fields that are not write-only', async () => {
    const { counted, isComplete, withValue } = await count(10);
    expect([counted, isComplete, Object.fromEntries(withValue)]).toEqual([3, true, { createdBy: 0, department: 2, text: 1 }]);
  });

  it('reports an incomplete count above the limit', async () => {
    expect(await count(2)).toMatchObject({ counted: 2, isComplete: false });
  });
});
