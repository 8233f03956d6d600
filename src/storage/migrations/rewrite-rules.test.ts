import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { createPolicy } from '../policies/policy-records.ts';
import { define } from '../storage.fixture.ts';
import { planMigration } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest, stepOf } from './migration.fixture.ts';
import type { Plan } from './migration-plan.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const before: Fields = { pay: { type: 'integer' } };

async function createAuditorRule(condition: JsonObject): Promise<void> {
  const base = { action: 'read', effect: 'ALLOW', priority: 100, isActive: true } as const;
  const rules = [{ ...base, resource: '_Decision', conditions: [condition] }];
  const policy = { name: 'Auditors', type: 'CUSTOM', isActive: true, priority: 100, tags: [], rules } as const;
  await test.database.transaction((tx) => createPolicy(tx, policy, { by: 'admin-1' }));
}
const planResourceRename = (): Promise<Plan> => planMigration(test.database, define({ Story: { fields: before, renamedFrom: 'Article' } }));
const planFieldRename = (): Promise<Plan> => planMigration(test.database, article({ wage: { type: 'integer', renamedFrom: 'pay' } }));

describe('rules on the audit log', () => {
  it.each<[string, JsonObject]>([
    ['a condition', { field: 'resource.resource', operator: 'ne', value: 'Article' }],
    ['an expression', { expression: 'resource.resource in ["Article", "User"]' }],
  ])('need confirmation of a renamed resource whose name %s compares', async (_, condition) => {
    await test.apply(before);
    await createAuditorRule(condition);
    expect(stepOf((await planResourceRename()).steps, 'renameTable')).toMatchObject({ risk: 'lossy', rules: [{ policy: 'Auditors' }] });
    expect(stepOf((await planFieldRename()).steps, 'renameColumn').risk).toBe('safe');
  });

  it('need confirmation of a renamed field whose name they compare with facts', async () => {
    await test.apply(before);
    await createAuditorRule({ not: { field: 'resource.facts.fields', operator: 'contains', value: 'pay' } });
    expect(stepOf((await planFieldRename()).steps, 'renameColumn')).toMatchObject({ risk: 'lossy', rules: [{ policy: 'Auditors' }] });
  });

  it('need no confirmation if they compare other names', async () => {
    await test.apply(before);
    await createAuditorRule({ field: 'resource.resource', operator: 'eq', value: 'User' });
    expect(stepOf((await planResourceRename()).steps, 'renameTable').risk).toBe('safe');
  });
});
