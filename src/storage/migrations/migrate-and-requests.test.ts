import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { onCommit } from '../sqlite/sqlite.fixture.ts';
import { failure, onPostgres, resourceOf } from '../storage.fixture.ts';
import { type DefinitionsHolder, migrate } from './migrate.ts';
import { article, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const before = article({ title: { type: 'string' } });
const after = article({ headline: { type: 'string', renamedFrom: 'title' } });

function createHolder(initial: Definitions): DefinitionsHolder {
  let definitions = initial;
  return {
    get definitions() {
      return definitions;
    },
    replaceDefinitions(next) {
      definitions = next;
    },
  };
}

/** Reads the table like a request: the fields that the definitions have at this moment. */
function readAll(holder: DefinitionsHolder): Promise<readonly string[]> {
  return test.database.transaction(async (tx) => {
    const names = [...resourceOf(holder.definitions, 'Article').fields.keys()];
    await tx.all(sql`SELECT ${sql.join(names.map((name) => sql.ref(name)))} FROM "Article"`);
    return names.slice(5);
  });
}

describe('definitions and their tables', () => {
  it.skipIf(onPostgres)(
    'definitions change together with their tables for requests before and behind the migration in the same commit',
    async () => {
      await migrate(test.database, before);
      const holder = createHolder(before);
      let commits = 0;
      using _ = onCommit(() => commits++);
      const [first, , last] = await Promise.all([readAll(holder), migrate(test.database, after, { holder }), readAll(holder)]);
      expect([first, last, commits]).toEqual([['title'], ['headline'], 1]);
      expect(await readAll(holder)).toEqual(['headline']);
    },
  );

  it.skipIf(onPostgres)('definitions and tables do not change if the commit fails', async () => {
    await migrate(test.database, before);
    const holder = createHolder(before);
    let fails = 1;
    using _ = onCommit(() => {
      if (fails-- > 0) throw new Error('disk');
    });
    const [migrated, behind, next] = await Promise.all([
      failure(migrate(test.database, after, { holder })),
      failure(readAll(holder)),
      // Reads again after a failure, as a read in relaxed mode does.
      readAll(holder).catch(() => readAll(holder)),
    ]);
    expect([migrated, behind]).toMatchObject([{ code: 'STORAGE_UNAVAILABLE' }, { code: 'STORAGE_UNAVAILABLE' }]);
    expect(next).toEqual(['title']);
  });

  it('definitions and tables stay if a system table cannot be migrated', async () => {
    const holder = createHolder(before);
    await test.database.transaction((tx) => tx.run(sql`CREATE TABLE "_Decision" ("id" INTEGER PRIMARY KEY, "at" INTEGER)`));
    expect(await failure(migrate(test.database, after, { holder }))).toBeDefined();
    expect(holder.definitions).toBe(before);
  });
});
