import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { query, runProgram } from '../process/program.ts';
import { examples } from './examples.ts';

// The tests of this file build on each other.
const it = createChain();

const [planning = '', pruning = ''] = examples('migrations', 'sh');
const [renaming = ''] = examples('migrations', 'yaml');
const [planned = '', refused = ''] = examples('migrations', '');

/** Returns the commands of an example in order, without comments. */
const commandsOf = (block: string): readonly string[][] =>
  block.split('\n').flatMap((line) =>
    line === ''
      ? []
      : [
          line
            .replace(/\s+#.*/, '')
            .split(' ')
            .slice(2),
        ],
  );

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-migrations-guide-'));
const data = join(folder, 'data');
const define = (text: string): void => writeFileSync(join(folder, 'resources', 'Article.yaml'), text);
const withHash = (text: string, hash: string): string => text.replaceAll(/\b[0-9a-f]{64}\b/g, hash);
const run = (command: readonly string[]) => runProgram([...command, '--project', folder, '--data', data]);

beforeAll(async () => {
  mkdirSync(join(folder, 'resources'));
  define('name: Article\nfields:\n  title: { type: string }\n  size: { type: string }\n');
  expect((await run(['storage', 'apply'])).code).toBe(0);
  const database = new Sqlite(join(data, 'bailiwick.db'));
  database.exec(`INSERT INTO Article (id, title, size) VALUES ('a1', 'kept', '12'), ('a2', 'too', '012')`);
  database.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the guide to migrations', () => {
  it('the guide to migrations plans and applies with the output and exit codes shown, and confirms a loss of values', async () => {
    const [plan = [], planJson = [], apply = [], allow = [], history = []] = commandsOf(planning);
    define('name: Article\nfields:\n  title: { type: string }\n  size: { type: integer }\n');
    const { hash } = JSON.parse((await run(planJson)).out) as { hash: string };
    expect(await run(plan)).toMatchObject({ code: 1, out: withHash(planned, hash) });
    const applied = await run(apply);
    expect([applied.code, `$ npx bailiwick storage apply\n${applied.out}${applied.err}`]).toEqual([1, withHash(refused, hash)]);
    expect((await run(allow.map((word) => (word === '<hash>' ? 'f'.repeat(64) : word)))).code).toBe(2);
    expect((await run(allow.map((word) => (word === '<hash>' ? hash : word)))).code).toBe(0);
    expect(query(data, 'SELECT size FROM Article ORDER BY id')).toEqual([12, null]);
    expect(await run(history)).toMatchObject({ code: 0, out: expect.stringContaining('by cli') });
  });

  it('the guide to migrations renames a resource and a field', async () => {
    define(`${renaming}  size: { type: integer }\n`);
    expect((await run(['storage', 'apply'])).code).toBe(0);
    expect(query(data, 'SELECT headline FROM Post ORDER BY id')).toEqual(['kept', 'too']);
  });

  it('the guide to migrations prunes archived columns with --yes', async () => {
    const [show = [], drop = []] = commandsOf(pruning);
    expect((await run(show)).out).toContain('Post.size$1 is archived; 2 values are permanently deleted');
    expect((await run(drop)).code).toBe(0);
    expect(await run(show)).toMatchObject({ code: 0, out: expect.stringContaining('there is no archived data') });
  });
});
