/** Commands that meet damaged rows: they say which row, and exit with code 1, without a stack trace. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-damaged-'));
const [project, whole, data, notes] = ['project', 'whole', 'data', 'notes.ndjson'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
  string,
];
const PASSWORD = 'correct horse battery';

const run = (input: string, command: string) => runCommand([...command.split(' '), '--project', project, '--data', data], input);

beforeAll(async () => {
  mkdirSync(join(project, 'resources'), { recursive: true });
  writeFileSync(
    join(project, 'resources/Note.yaml'),
    'name: Note\nfields:\n  title: { type: string }\n  tags: { type: list, of: string }\n',
  );
  writeFileSync(notes, '{"title":"first","tags":["a"]}\n');
  for (const [input, command] of [
    [PASSWORD, 'user create ada@example.com --role admin'],
    [PASSWORD, 'user create ben@example.com'],
    ['', `import Note ${notes} --as ada@example.com`],
  ] as const) {
    const ended = await run(input, command);
    expect(ended, command).toMatchObject({ code: 0 });
  }
  cpSync(data, whole, { recursive: true });
});
beforeEach(() => {
  rmSync(data, { recursive: true, force: true });
  cpSync(whole, data, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a statement as a damaged disk or an SQL client would. */
function damage(statement: string): void {
  const database = new Sqlite(join(data, 'bailiwick.db'));
  database.exec(statement);
  database.close();
}

const USER = `UPDATE "User" SET "name" = 'other'`;

describe('a command that needs a damaged row', () => {
  it.each([
    [USER, 'export Note - --format ndjson --as ada@example.com', 'of User is damaged'],
    [USER, `import Note ${notes} --as ada@example.com`, 'of User is damaged'],
    [USER, 'user password ben@example.com', 'of User is damaged'],
    [USER, 'user promote ben@example.com', 'of User is damaged'],
    [`UPDATE "Note" SET "tags" = '["a'`, 'export Note - --format ndjson --as ada@example.com', 'column "tags" cannot be parsed'],
    [`UPDATE "_Evolution" SET "steps" = '[{'`, 'storage history', 'of _Evolution is damaged'],
    [`UPDATE "_Definition" SET "source" = '{' WHERE "id" = 'Note'`, 'storage plan', 'row Note of _Definition is damaged'],
    [`UPDATE "_Definition" SET "source" = '{' WHERE "id" = 'Note'`, 'storage apply', 'row Note of _Definition is damaged'],
  ])('says so, and exits with code 1: %s; %s', async (statement, command, expected) => {
    damage(statement);
    const { code, err } = await run('another good password', command);
    expect(err).toContain(expected);
    expect(err).toContain('bailiwick verify');
    expect(err).not.toMatch(/internal error|^ {4}at /m);
    expect(code).toBe(1);
  });
});
