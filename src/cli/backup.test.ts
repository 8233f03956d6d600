import { describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { runCli } from './program.ts';
import { createRun, type Run } from './run.fixture.ts';

const until = '2026-01-01T00:00:00.000Z';

function createRestoring(entriesSince: number, kept?: string): Run {
  const restore = { bytes: 12_345_678, until, entriesSince, kept: undefined };
  const run = createRun({
    backups: {
      write: async (file, { show }) => {
        if (file === 'taken') throw new SetupError('taken exists, and a backup replaces no file');
        show('copying');
        return { file: `/${file}`, bytes: 2001 };
      },
      look: async () => restore,
      restore: async (file, { show }) => {
        show(`replacing by ${file}`);
        return { ...restore, kept };
      },
    },
  });
  return run;
}

describe('backup', () => {
  it('prints what it wrote, and shows what it does where somebody looks on', async () => {
    const run = createRestoring(0);
    const shown: (string | undefined)[] = [];
    expect(await runCli(['backup', 'a.db'], { ...run.context, showProgress: (line) => void shown.push(line) })).toBe(0);
    expect(run.out.map((line) => line.replace(/\d\.\d s/, '… s'))).toEqual(['/a.db: 3 kB, whole, in … s']);
    expect(shown).toEqual(['copying', undefined]);
  });

  it('says why it cannot, and needs a file', async () => {
    const run = createRestoring(0);
    expect(await runCli(['backup', 'taken'], run.context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: taken exists, and a backup replaces no file']);
    expect(await runCli(['backup'], run.context)).toBe(2);
    expect(run.out).toEqual([]);
  });
});

describe('restore', () => {
  it('only shows what would be lost', async () => {
    const run = createRestoring(7, 'never');
    expect(await runCli(['restore', 'a.db'], run.context)).toBe(0);
    expect(run.out).toEqual([
      'a backup of 12.3 MB, whole; its last entry is of 2026-01-01T00:00:00.000Z',
      'entries made since: 7; they, and what they tell of, are not in it',
      'nothing was restored: do it with --yes',
    ]);
  });

  it('is done with --yes, and says where what stood before is', async () => {
    const run = createRestoring(0, 'data/backups/x.db');
    expect(await runCli(['restore', 'a.db', '--yes'], run.context)).toBe(0);
    expect(run.out.slice(1)).toEqual([
      'no entry was made since',
      'what stood before is kept in data/backups/x.db',
      'restored; every session is ended, and a running service goes by it from its next request',
    ]);
  });
});
