import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { type Definitions, parseDefinition } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import { verifyRows } from '../checksums/verify-rows.ts';
import { loadPolicyState } from '../policies/policy-state.ts';
import { deleteRecord, insertRecord } from '../records.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { pruneArchived } from './prune-archived.ts';

/** The system definitions of a version of the program without checksums. */
const EARLIER: Definitions = new Map(
  [...SYSTEM.values()]
    .filter(({ name }) => name !== '_RecordChecksum')
    .flatMap(({ source, internal }) => {
      const { checksum: _, ...fields } = source['fields'] as JsonObject;
      const { resource } = parseDefinition(internal ? { ...source, fields } : source, { builtIn: true });
      return resource === undefined ? [] : [[resource.name, resource] as const];
    }),
);
const AT = `'2026-01-01T00:00:00.000Z'`;

let test: TestDatabase;
beforeEach(async () => {
  test = openTestDatabase();
  await migrate(test.database, EARLIER);
  await run(
    `INSERT INTO "User" ("id", "version", "createdAt", "updatedAt", "email", "role", "isActive") VALUES ('u', 1, ${AT}, ${AT}, 'u@example.com', 'user', TRUE)`,
    `INSERT INTO "_Policy" ("id", "name", "type", "isActive", "priority", "createdBy", "tags", "createdAt", "updatedAt", "version") VALUES ('p', 'p', 'CUSTOM', TRUE, 1, 'a', '[]', ${AT}, ${AT}, 1)`,
    `INSERT INTO "_PolicyRule" ("id", "policyId", "position", "resource", "action", "effect", "conditions", "priority", "isActive", "createdAt") VALUES ('r', 'p', 0, '*', '*', 'DENY', '[]', 1, TRUE, ${AT})`,
    `INSERT INTO "_RolePolicy" ("id", "role", "policyId", "assignedBy", "assignedAt", "isActive", "priority", "version") VALUES ('a', 'user', 'p', 'a', ${AT}, TRUE, 1, 1)`,
  );
});
afterEach(() => test.dispose());

function run(...texts: readonly string[]): Promise<void> {
  return test.database.transaction(async (tx) => {
    for (const text of texts) await tx.run(sql.raw(text));
  });
}

const verify = () => verifyRows((work) => test.database.transaction(work));

describe('the migration that adds checksums', () => {
  it('the migration that adds checksums writes those of all rows, and every policy applies as before', async () => {
    expect(await verify()).toBeUndefined();
    await migrate(test.database, SYSTEM);
    expect(await verify()).toEqual({ rows: 3, damaged: [], damagedCount: 0 });
    const { policies, rolePolicies, damaged } = await test.database.transaction(loadPolicyState);
    expect([policies.map(({ id }) => id), rolePolicies.map(({ id }) => id), damaged]).toEqual([['p'], ['a'], undefined]);
  });

  it('a checksum that is removed later is not written again by the next migration', async () => {
    await migrate(test.database, SYSTEM);
    await run(`UPDATE "_Policy" SET "checksum" = NULL`, `DELETE FROM "_RecordChecksum"`);
    await migrate(test.database, SYSTEM, { thorough: true });
    expect((await verify())?.damaged).toEqual([
      { table: '_Policy', id: 'p' },
      { table: 'User', id: 'u' },
    ]);
  });
});

describe('soft-deleted records with checksums', () => {
  it('soft-deleted records are verified, and their checksums are deleted when they are pruned', async () => {
    const definitions = define({ Page: { softDelete: true, checksum: true, fields: { title: { type: 'string' } } } });
    const page = resourceOf(definitions, 'Page');
    await migrate(test.database, definitions);
    await test.database.transaction(async (tx) => {
      for (const id of ['a', 'b']) await insertRecord(tx, page, toRecord(id, { title: id }));
      await deleteRecord(tx, page, { id: 'a' });
    });
    const before = await verify();
    await run(`UPDATE "Page" SET "title" = 'x' WHERE "id" = 'a'`);
    expect((await verify())?.damaged).toEqual([{ table: 'Page', id: 'a' }]);
    await run(`UPDATE "Page" SET "deletedAt" = ${AT}`);
    await pruneArchived(test.database, definitions, { actor: 'test', deletedBefore: 1 });
    const rows = await test.database.transaction((tx) => tx.all(sql`SELECT "id" FROM "_RecordChecksum" WHERE "id" <> 'User/u'`));
    expect([before?.damaged, rows]).toEqual([[], []]);
  });
});
