import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { createPolicy } from '../policies/policy-records.ts';
import { define, failure } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import type { Plan } from './migration-plan.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const before: Fields = { price: { type: 'string' } };
const renamed: Fields = { cost: { type: 'string', renamedFrom: 'price' } };
const converted: Fields = { price: { type: 'integer' } };
const plan = (fields: Fields): Promise<Plan> => planMigration(test.database, article(fields));

async function createRule(name: string): Promise<void> {
  const base = { action: 'read', effect: 'ALLOW', priority: 100, isActive: true } as const;
  const rules = [{ ...base, resource: 'Article', conditions: [{ expression: 'resource.price.startsWith("x")' }] }];
  const policy = { name, type: 'CUSTOM', isActive: true, priority: 100, tags: [], rules } as const;
  await test.database.transaction((tx) => createPolicy(tx, policy, { by: 'admin-1' }));
}

describe('the hash of a plan', () => {
  it('allows the steps that remain after a migration that performed only some', async () => {
    await test.apply(before);
    await test.insert(before, { price: 'free' });
    const both = define({ Article: { fields: converted }, Extra: { fields: before } });
    const first = await migrate(test.database, both);
    expect(first.plan.held).toEqual(['Article']);
    expect(first.done.map(({ resource }) => resource)).toContain('Extra');
    expect((await migrate(test.database, both, { allow: first.remaining.hash })).plan.held).toEqual([]);
  });

  it('changes if another rule would break', async () => {
    await test.apply(before);
    await createRule('A');
    const { hash } = await plan(renamed);
    expect((await plan(renamed)).hash).toBe(hash);
    await createRule('B');
    expect(await failure(migrate(test.database, article(renamed), { allow: hash }))).toMatchObject({ name: 'SetupError' });
    expect((await migrate(test.database, article(renamed), { allow: (await plan(renamed)).hash })).plan.held).toEqual([]);
  });

  it('changes if a record after the first five loses its value instead of another', async () => {
    await test.apply(before);
    await test.insert(before, ...Array.from({ length: 7 }, (_, index) => ({ price: index < 6 ? 'free' : '1' })));
    const { hash } = await plan(converted);
    expect((await plan(converted)).hash).toBe(hash);
    await test.database.transaction(async (tx) => {
      await tx.run(sql`UPDATE "Article" SET "price" = '1' WHERE "id" = '6'`);
      await tx.run(sql`UPDATE "Article" SET "price" = 'free' WHERE "id" = '7'`);
    });
    expect(await failure(migrate(test.database, article(converted), { allow: hash }))).toMatchObject({ name: 'SetupError' });
    expect((await migrate(test.database, article(converted), { allow: (await plan(converted)).hash })).plan.held).toEqual([]);
  });
});
