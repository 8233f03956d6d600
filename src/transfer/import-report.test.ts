import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { ImportOptions } from '../request/index.ts';
import { createImportReport } from './import-report.ts';

const UNKNOWN = new Problem('STORAGE_UNAVAILABLE', 'the connection was lost', { hint: 'check', mayBeStored: true });

/** Returns the problem of an import whose first two rows are stored, and whose next commit fails. */
function stop(error: Problem, options: Partial<ImportOptions>): Problem {
  const report = createImportReport({ onError: 'stop', atomic: false, dryRun: false, ...options } as ImportOptions);
  const item = { decisionId: undefined, result: 'imported' as const };
  if (options.atomic !== true) Array.from(report.add([1, 2].map((row) => ({ row, outcome: item }))));
  return report.stoppedBy(error);
}

describe('an import whose commit has an unknown outcome', () => {
  it('an atomic import has no counts, and says that its rows may have been stored', () => {
    const { detail, extras } = stop(UNKNOWN, { atomic: true });
    expect(detail).toBe('the connection was lost; the rows may have been stored');
    expect(extras).toEqual({ hint: 'check', mayBeStored: true });
  });

  it('an import in batches counts those before, and says that the last one may have been stored', () => {
    const { detail, extras } = stop(UNKNOWN, {});
    expect(detail).toBe(
      'the connection was lost; before this, 2 rows were imported and 0 updated; these changes are kept; the batch after row 2 may have been stored',
    );
    expect(extras.data).toMatchObject({ imported: 2, lastRow: 2 });
  });

  it('an import whose first batch has an unknown outcome does not say that nothing was stored', () => {
    const report = createImportReport({ onError: 'stop', atomic: false, dryRun: false } as ImportOptions);
    expect(report.stoppedBy(UNKNOWN).detail).toBe('the connection was lost; the first batch may have been stored');
  });

  it('a dry run stores nothing', () => {
    expect(stop(UNKNOWN, { dryRun: true }).detail).toBe('the connection was lost; nothing was stored');
  });
});

it('an atomic import that is refused has stored nothing', () => {
  const { detail, extras } = stop(new Problem('STORAGE_UNAVAILABLE', 'busy'), { atomic: true });
  expect(detail).toBe('busy; nothing was stored');
  expect(extras.data).toMatchObject({ imported: 0 });
});
