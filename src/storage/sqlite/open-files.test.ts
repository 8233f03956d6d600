import { copyFileSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from './database.ts';
import { codeOf, type Family, insert, onCommit, openFamily } from './sqlite.fixture.ts';

let family: Family;
beforeEach(async () => {
  family = await openFamily();
});
afterEach(() => family.dispose());

const LOST = 'the database file was removed or replaced while the service was running';

function replaceByCopy(): void {
  copyFileSync(family.path, `${family.path}.new`);
  renameSync(`${family.path}.new`, family.path);
}

describe('open files', () => {
  it.each([
    ['replaced by a copy', replaceByCopy],
    ['removed', () => unlinkSync(family.path)],
    ['emptied', () => truncateSync(family.path)],
    ['left without its WAL', () => unlinkSync(`${family.path}-wal`)],
    ['left without its shared memory file', () => unlinkSync(`${family.path}-shm`)],
  ])('fails a commit during which the file was %s', async (_, lose) => {
    using _commits = onCommit(lose);
    const refused = family.database.transaction((tx) => insert(tx, 'a'));
    expect(await refused.catch((error: unknown) => error)).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      extras: { hint: 'trying again does not help until the service is restarted; its log says what to do' },
    });
    expect([family.database.fault, family.database.healthy]).toEqual([LOST, false]);
  });

  it('does not write to the file after it is removed, and logs one line', async () => {
    const lines: string[] = [];
    const database = openSqlite({ path: family.path, log: (line) => lines.push(line) });
    renameSync(family.path, `${family.path}.away`);
    let commits = 0;
    using _ = onCommit(() => commits++);
    for (const id of ['a', 'b']) expect(await codeOf(database.transaction((tx) => insert(tx, id)))).toBe('STORAGE_UNAVAILABLE');
    expect(commits).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^\S+test\.db was removed while the service was running; .*restart the service$/)]);
    await database.close();
  });

  it('fails commits while the files cannot be reached, and works again afterwards', async () => {
    const away = `${family.path}.away`;
    renameSync(family.path, away);
    symlinkSync(family.path, family.path);
    expect(family.database.fault).toMatch(/cannot be reached/);
    expect(await codeOf(family.database.transaction((tx) => insert(tx, 'a')))).toBe('STORAGE_UNAVAILABLE');
    rmSync(family.path);
    renameSync(away, family.path);
    await family.database.transaction((tx) => insert(tx, 'b'));
    expect([family.database.fault, await family.ids()]).toEqual([undefined, ['b']]);
  });
});
