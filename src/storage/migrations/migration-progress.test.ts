import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { onPostgres } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { pruneArchived } from './prune-archived.ts';

let test: MigrationTest;
let logged: string[];
const log = (line: string): void => void logged.push(line);
const text: Fields = { size: { type: 'string' } };
const WAIT = onPostgres
  ? 'requests that use this table wait meanwhile'
  : 'requests wait meanwhile, because their audit entries need the same lock';
const NO_BACKUP = 'no backup is written first: this database has no automatic backups';

beforeEach(async () => {
  logged = [];
  test = openMigrationTest();
  await test.apply(text);
});
afterEach(() => test.dispose());

async function insert(records: number): Promise<void> {
  await test.database.transaction((tx) =>
    tx.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(records)})
      INSERT INTO "Article" ("id", "version", "createdAt", "updatedAt", "size") SELECT substr(CAST(100000000 + i AS TEXT), 2), 1, '', '', CAST(i AS TEXT) FROM n`),
  );
}

async function logOf(fields: Fields): Promise<readonly string[]> {
  await migrate(test.database, article(fields), { log });
  return logged.map((line) => line.replace(/\d+\.\d s$/, '… s'));
}

describe('a step on many records', () => {
  it('logs a step on many records before and after, with the number of records and the reason why requests wait', async () => {
    await insert(10_001);
    expect(await logOf({ size: { type: 'string', index: true } })).toEqual([
      `Article (size) is indexed: processing 10,001 records; ${WAIT}`,
      'Article: done in … s',
    ]);
  });

  it('logs progress at intervals during a conversion', async () => {
    await insert(100_001);
    expect(await logOf({ size: { type: 'integer' } })).toEqual([
      `Article.size: converting the values of 100,001 records; ${WAIT}`,
      'Article.size: 50,000 of 100,001',
      'Article.size: 100,000 of 100,001',
      'Article.size: converted in … s',
      NO_BACKUP,
      `Article.size changes from string to integer; all 100001 values can be converted: processing 100,001 records; ${WAIT}`,
      'Article.size: done in … s',
    ]);
  });

  it('logs progress during a prune', async () => {
    await insert(10_001);
    await test.apply({ other: { type: 'string' } });
    await pruneArchived(test.database, article({ other: { type: 'string' } }), { actor: 'cli', log });
    expect(logged.slice(0, 2)).toEqual([
      NO_BACKUP,
      `Article.size is archived; 10001 values are permanently deleted: processing 10,001 records; ${WAIT}`,
    ]);
  });

  it('does not log a step on fewer records', async () => {
    await insert(10_000);
    expect(await logOf({ size: { type: 'string', index: true }, other: { type: 'string' } })).toEqual([]);
  });
});
