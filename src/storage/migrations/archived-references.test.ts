import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { deleteRecord } from '../records.ts';
import { define, failure, onPostgres, openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';

let test: TestDatabase;

beforeEach(() => {
  test = openTestDatabase();
});
afterEach(() => test.dispose());

const parent: JsonObject = { fields: { title: { type: 'string' } } };
const without: Definitions = define({ Parent: parent });

function withChild(onDelete: string, more: JsonObject = {}): Definitions {
  return define({ Parent: parent, Child: { fields: { parentId: { type: 'reference', to: 'Parent', onDelete }, ...more } } });
}

/** Two parents, of which the first has a child. */
async function populate(definitions: Definitions): Promise<void> {
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO "Parent" ("id", "version", "createdAt", "updatedAt") VALUES ('p1', 1, '', ''), ('p2', 1, '', '')`);
    await tx.run(sql`INSERT INTO "Child" ("id", "version", "createdAt", "updatedAt", "parentId") VALUES ('c1', 1, '', '', 'p1')`);
  });
}

function removeParent(id: string): Promise<boolean> {
  return test.database.transaction((tx) => deleteRecord(tx, resourceOf(without, 'Parent'), { id }));
}

describe('archived references to a deleted record', () => {
  it.each(['restrict', 'cascade', 'setNull'])(
    'a deletion does not destroy records of an archived resource, onDelete %s',
    async (onDelete) => {
      const before = withChild(onDelete);
      await populate(before);
      await migrate(test.database, without);
      expect(await failure(removeParent('p1'))).toMatchObject({ constraint: 'reference' });
      expect(await removeParent('p2')).toBe(true);
      expect((await migrate(test.database, before)).plan.held).toEqual([]);
      expect(await test.rows('Child')).toMatchObject([{ id: 'c1', parentId: 'p1' }]);
    },
  );

  it.each(['restrict', 'cascade', 'setNull'])(
    'a deletion does not destroy records with an archived reference, onDelete %s',
    async (onDelete) => {
      const before = withChild(onDelete, { name: { type: 'string' } });
      await populate(before);
      await migrate(test.database, define({ Parent: parent, Child: { fields: { name: { type: 'string' } } } }));
      expect(await failure(removeParent('p1'))).toMatchObject({ constraint: 'reference' });
      await migrate(test.database, before);
      expect(await test.rows('Child')).toMatchObject([{ id: 'c1', parentId: 'p1' }]);
    },
  );

  it('a deletion does not destroy archived data for any onDelete that the field had before', async () => {
    await populate(withChild('cascade'));
    await migrate(test.database, withChild('restrict'));
    expect(await failure(removeParent('p1'))).toMatchObject({ constraint: 'reference' });
    const query = onPostgres
      ? sql`SELECT pg_get_constraintdef(oid) AS "sql" FROM pg_constraint WHERE connamespace = current_schema()::regnamespace`
      : sql`SELECT "sql" FROM sqlite_schema WHERE "type" = 'table'`;
    const said = await test.database.transaction((tx) => tx.all<{ sql: string }>(query));
    expect(said.length).toBeGreaterThan(0);
    expect(said.filter((each) => /ON (DELETE|UPDATE)|DEFERR/i.test(each.sql))).toEqual([]);
  });
});
