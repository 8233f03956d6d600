import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBackups } from './automatic-backups.ts';
import { createNumbersFile, type NumbersFile, readNumbers } from './backup.fixture.ts';

let file: NumbersFile;
let folder: string;
let path: string;

beforeEach(() => {
  file = createNumbersFile();
  ({ folder, path } = file);
});
afterEach(() => file.dispose());

describe('automatic backups', () => {
  const names = (): string[] => readdirSync(join(folder, 'backups')).toSorted();

  it('names automatic backups by time and label; completing one deletes the oldest, and other files stay', async () => {
    const backups = createBackups(path, { folder: join(folder, 'backups'), kept: 2 });
    mkdirSync(join(folder, 'backups'));
    for (const mine of ['before-the-move.db', '2026.db']) writeFileSync(join(folder, 'backups', mine), '');
    const made: string[] = [];
    for (const label of ['a', 'b', 'c'.repeat(64)]) {
      const { file, complete } = backups.create(label);
      made.push(file);
      complete();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(made[2]).toMatch(/\/backups\/\d{8}T\d{9}Z-c{12}\.db$/);
    expect(made.map(existsSync)).toEqual([false, true, true]);
    expect(names()).toHaveLength(4);
    expect(names()).toEqual(expect.arrayContaining(['before-the-move.db', '2026.db']));
    expect(readNumbers(made[2] ?? '')).toEqual([1]);
  });

  it('limits the backups of one label before they are complete', async () => {
    const backups = createBackups(path, { folder: join(folder, 'backups'), kept: 10 });
    backups.create('other');
    for (let count = 0; count < 4; count++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      backups.create('plan');
    }
    expect(names().map((name) => name.slice(20))).toEqual(['other.db', 'plan.db', 'plan.db']);
    const left = names()[0] ?? '';
    writeFileSync(join(folder, 'backups', `${left}.${randomUUID()}.part`), 'half');
    backups.create('discarded').discard();
    expect(names()).toHaveLength(3);
    expect(names().some((name) => name.includes('discarded'))).toBe(false);
  });
});

describe.skipIf(process.getuid?.() === 0)('a backup folder without permissions', () => {
  it('refuses a backup folder without permissions with a plain error', () => {
    mkdirSync(join(folder, 'backups'), { mode: 0o100 });
    expect(() => createBackups(path, { folder: join(folder, 'backups'), kept: 2 }).create('plan')).toThrow(/^cannot use the folder/);
  });
});

describe('automatic backups after the clock was set back', () => {
  it('backups stay after the clock was set back, though older backups have later times in their names', () => {
    const target = join(folder, 'backups');
    mkdirSync(target);
    for (const label of ['plan', 'other']) writeFileSync(join(target, `29990101T000000000Z-${label}.db`), '');
    writeFileSync(join(target, '29990102T000000000Z-plan.db'), '');
    const made = createBackups(path, { folder: target, kept: 2 }).create('plan');
    expect(readNumbers(made.file)).toEqual([1]);
    made.complete();
    expect(readdirSync(target).toSorted()).toEqual([made.name, '29990102T000000000Z-plan.db']);
  });
});
