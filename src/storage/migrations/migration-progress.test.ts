import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { onPostgres } from '../storage.fixture.ts';
import { article, type Evolution, type Fields, openEvolution } from './evolution.fixture.ts';
import { migrate } from './migrate.ts';
import { pruneArchived } from './prune-archived.ts';

let test: Evolution;
let told: string[];
const tell = (line: string): void => void told.push(line);
const text: Fields = { size: { type: 'string' } };
const WAIT = onPostgres
  ? 'requests that need this table wait meanwhile'
  : 'requests wait meanwhile, because no answer leaves before its entry is written and that takes the same lock';
const NO_BACKUP = 'no backup is made first: not by itself, of this database';

beforeEach(async () => {
  told = [];
  test = openEvolution();
  await test.apply(text);
});
afterEach(() => test.dispose());

async function insert(records: number): Promise<void> {
  await test.database.transaction((tx) =>
    tx.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(records)})
      INSERT INTO "Article" ("id", "version", "createdAt", "updatedAt", "size") SELECT substr(CAST(100000000 + i AS TEXT), 2), 1, '', '', CAST(i AS TEXT) FROM n`),
  );
}

async function tellOf(fields: Fields): Promise<readonly string[]> {
  await migrate(test.database, article(fields), { tell });
  return told.map((line) => line.replace(/\d+\.\d s$/, '… s'));
}

describe('what takes long', () => {
  it('is told before and after, with how many records and why requests wait', async () => {
    await insert(10_001);
    expect(await tellOf({ size: { type: 'string', index: true } })).toEqual([
      `Article (size) has an index: this comes by 10,001 records; ${WAIT}`,
      'Article: done in … s',
    ]);
  });

  it('is told on the way too, where values are worked out one by one', async () => {
    await insert(100_001);
    expect(await tellOf({ size: { type: 'integer' } })).toEqual([
      `Article.size: what becomes of the values of 100,001 records is worked out; ${WAIT}`,
      'Article.size: 50,000 of 100,001',
      'Article.size: 100,000 of 100,001',
      'Article.size: worked out in … s',
      NO_BACKUP,
      `Article.size changes from string to integer; all 100001 values follow: this comes by 100,001 records; ${WAIT}`,
      'Article.size: done in … s',
    ]);
  });

  it('is told of what a prune takes out', async () => {
    await insert(10_001);
    await test.apply({ other: { type: 'string' } });
    await pruneArchived(test.database, article({ other: { type: 'string' } }), { actor: 'cli', tell });
    expect(told.slice(0, 2)).toEqual([
      NO_BACKUP,
      `Article.size is kept aside; 10001 values are dropped for good: this comes by 10,001 records; ${WAIT}`,
    ]);
  });

  it('is not told of what does not', async () => {
    await insert(10_000);
    expect(await tellOf({ size: { type: 'string', index: true }, other: { type: 'string' } })).toEqual([]);
  });
});
