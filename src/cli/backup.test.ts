import { describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { runCli } from './program.ts';
import { createRun, type Run } from './run.fixture.ts';

const until = '2026-01-01T00:00:00.000Z';

function createRestoring(entriesSince: number, kept?: string, damaged: readonly string[] = []): Run {
  const restore = { bytes: 12_345_678, until, entriesSince, damaged, kept: undefined };
  const run = createRun({
    backups: {
      write: async (file, { show } = {}) => {
        if (file === 'taken') throw new SetupError('taken exists, and a backup replaces no file');
        show?.('copying');
        return { file: `/${file}`, bytes: 2001, damaged };
      },
      look: async () => restore,
      restore: async (file, { show } = {}) => {
        show?.(`replacing by ${file}`);
        return { ...restore, kept };
      },
    },
  });
  return run;
}

describe('backup', () => {
  it('backup prints the file that it wrote, and shows progress on a terminal', async () => {
    const run = createRestoring(0);
    const shown: (string | undefined)[] = [];
    expect(await runCli(['backup', 'a.db'], { ...run.context, showProgress: (line) => void shown.push(line) })).toBe(0);
    expect(run.out.map((line) => line.replace(/\d\.\d s/, '… s'))).toEqual([
      'wrote /a.db (3 kB) in … s; the backup passed its integrity check',
    ]);
    expect(shown).toEqual(['copying', undefined]);
  });

  it('backup prints the damaged rows, and exits with an error code', async () => {
    const run = createRestoring(0, undefined, ['row u1 of User is damaged']);
    expect(await runCli(['backup', 'a.db'], run.context)).toBe(1);
    expect(run.out.slice(1)).toEqual(['row u1 of User is damaged', 'the database has the same damage; run "bailiwick verify"']);
  });

  it('backup prints the reason of a failure, and requires a file', async () => {
    const run = createRestoring(0);
    expect(await runCli(['backup', 'taken'], run.context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: taken exists, and a backup replaces no file']);
    expect(await runCli(['backup'], run.context)).toBe(2);
    expect(run.out).toEqual([]);
  });
});

describe('restore', () => {
  it('restore prints the data that would be lost, without --yes', async () => {
    const run = createRestoring(7, 'never');
    expect(await runCli(['restore', 'a.db'], run.context)).toBe(0);
    expect(run.out).toEqual([
      'valid backup of 12.3 MB, last audit entry 2026-01-01T00:00:00.000Z',
      '7 audit entries were written after the backup; a restore loses them and the changes that they record',
      'nothing was restored; run again with --yes to restore',
    ]);
  });

  it('restore replaces the database with --yes, and names the backup of the previous one', async () => {
    const run = createRestoring(0, 'data/backups/x.db');
    expect(await runCli(['restore', 'a.db', '--yes'], run.context)).toBe(0);
    expect(run.out.slice(1)).toEqual([
      'no audit entries were written after the backup',
      'the previous database was saved to data/backups/x.db',
      'restored; all sessions were ended, and a running service uses the restored data from its next request',
    ]);
  });
});
