/** Power cuts while files are made beside the database. The test needs strace, which records the file operations; without it, it is skipped. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canTrace } from '../process/strace.ts';
import { createRandom } from '../random.ts';
import { createDisk, SURVIVALS } from './disk-model.ts';
import { failSyncs } from './failed-syncs.ts';
import type { FileEvent } from './file-events.ts';
import { type CommandEnd, createRecorder, type Recorder } from './recording.ts';

const source = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** A program that makes files on the disk at the path in its first argument. */
const PROGRAM = `
  import { writeFileSync } from 'node:fs';
  import { makeFolder, readOrMakeKey, replaceFile } from ${source('files/index.ts')};
  import { appendLine } from ${source('audit/integrity/checkpoint-file.ts')};
  import { createBackups } from ${source('storage/sqlite/automatic-backups.ts')};
  import { writeBackup } from ${source('storage/sqlite/write-backup.ts')};
  const root = process.argv[1];
  readOrMakeKey({ path: root + '/new/keys/a.key', name: 'key', make: () => 'a key' });
  replaceFile(root + '/replaced', 'the first content');
  replaceFile(root + '/replaced', 'the second content');
  await appendLine(root + '/lines/checkpoints', () => 'a line');
  await appendLine(root + '/more/checkpoints', () => 'a line');
  await appendLine(root + '/more/checkpoints', () => 'another line');
  makeFolder(root + '/shared');
  writeFileSync(root + '/shared/checkpoints', 'the line of a process that has not synced it yet\\n');
  await appendLine(root + '/shared/checkpoints', () => 'a line');
  createBackups(root + '/a.db', { folder: root + '/automatic', kept: 1 }).create('plan');
  writeBackup({ from: root + '/a.db', to: root + '/backup.db' });
`;

/** A program that makes a backup on the disk at the path in its first argument. */
const BACKUP = `
  import { writeBackup } from ${source('storage/sqlite/write-backup.ts')};
  const root = process.argv[1];
  writeBackup({ from: root + '/a.db', to: root + '/backup.db' });
`;

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program on a disk of its own; returns the recorder and the exit code. */
async function record(program: string, faults: readonly string[] = []): Promise<Recorder & Pick<CommandEnd, 'code'>> {
  const recorder = createRecorder(folder, folder, faults);
  new Sqlite(join(recorder.root, 'a.db')).exec('CREATE TABLE t (x)').close();
  const { code } = await recorder.runOther([process.execPath, '--input-type=module', '-e', program, recorder.root]);
  return { ...recorder, code };
}

describe.skipIf(!canTrace)('a power cut', () => {
  let events: readonly FileEvent[];
  beforeAll(async () => {
    events = (await record(PROGRAM)).readEvents();
  });

  /** Returns the contents of the file whose path matches, in all states after a number of events. */
  function contentsAfter(count: number, path: RegExp): ReadonlySet<string | undefined> {
    const disk = createDisk();
    for (const [at, event] of events.slice(0, count).entries()) disk.apply(event, at);
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    const states = SURVIVALS.flatMap((survival) => seeds.map((seed) => disk.cut(survival, createRandom(seed))));
    return new Set(states.map((files) => [...files].find(([name]) => path.test(name))?.[1].toString('latin1')));
  }

  it.each([
    ['a key', /^new\/keys\/a\.key$/],
    ['a file that was replaced', /^replaced$/],
    ['the first line of checkpoints', /^lines\/checkpoints$/],
    ['a further line of checkpoints', /^more\/checkpoints$/],
    ['a line of checkpoints in a file that another process makes', /^shared\/checkpoints$/],
    ['a backup', /^backup\.db$/],
    ['an automatic backup', /^automatic\/[^/]+-plan\.db$/],
  ])('leaves %s whole once it is made', (_, path) => {
    const [content, ...others] = contentsAfter(events.length, path);
    expect([content === undefined, others]).toEqual([false, []]);
  });

  it('leaves the former or the new content of a file that is being replaced', () => {
    const first = events.findIndex((event) => event.kind === 'rename' && event.to === 'replaced');
    const folders = events.flatMap((event, at) => (event.kind === 'sync' && event.path === '' && at > first ? [at] : []));
    const seen = events.flatMap((_, at) => (at > (folders[0] ?? events.length) ? [...contentsAfter(at, /^replaced$/)] : []));
    expect(new Set(seen)).toEqual(new Set(['the first content', 'the second content']));
  });
});

describe.skipIf(!canTrace)('a failing sync', () => {
  it('leaves no file of a backup that failed, whichever of its syncs fails', async () => {
    const syncs = (await record(BACKUP)).readEvents().filter(({ kind }) => kind === 'sync').length;
    const ends: string[] = [];
    for (let number = 1; number <= syncs; number++) {
      const { code, root } = await record(BACKUP, failSyncs(`${number}`));
      ends.push(`${code === 0 ? 'done' : 'failed'}: ${readdirSync(root).sort()}`);
    }
    // SQLite ignores that its journal of the copy has no durable name.
    expect(new Set(ends)).toEqual(new Set(['failed: a.db', 'done: a.db,backup.db']));
    expect(ends.at(-1)).toBe('failed: a.db');
  });
});
