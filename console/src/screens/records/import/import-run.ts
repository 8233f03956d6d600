/** The response of an import, read line by line until its end. */
import { type ImportCounts, type ImportLine, type RejectedRow, toLostAnswer } from '../../../api/import-records.ts';
import { RequestError } from '../../../api/problem.ts';

/** The numbers of rows of an import that goes on. */
export interface RunningImport {
  readonly counts: ImportCounts;
  /** The last row of the last batch. */
  readonly row: number;
}

/** An import that has ended: at its last row, by its user, or by an error. */
export interface EndedImport {
  /** The numbers of rows that are known to be processed. */
  readonly counts: ImportCounts;
  readonly rejected: readonly RejectedRow[];
  readonly end: 'complete' | 'stopped' | 'failed';
  /** The error of a failed import. */
  readonly error?: unknown;
}

/** The counts before the first row. */
export const NO_ROWS: ImportCounts = { imported: 0, updated: 0, unchanged: 0, rejected: 0 };

/**
 * Reads the lines of an import, and reports the progress. An error keeps what was counted before it: those rows are stored. Without a summary as
 * the last line, the import has failed, because the connection may have ended before it.
 */
export async function readImport(
  lines: AsyncIterable<ImportLine>,
  signal: AbortSignal,
  onProgress: (running: RunningImport) => void,
): Promise<EndedImport> {
  const rejected: RejectedRow[] = [];
  let counts = NO_ROWS;
  try {
    for await (const line of lines) {
      if (line.kind === 'rejected') rejected.push(line.rejected);
      else counts = line.counts;
      if (line.kind === 'progress') onProgress({ counts, row: line.row });
      if (line.kind === 'end') return { counts, rejected, end: 'complete' };
    }
    throw toLostAnswer();
  } catch (error) {
    if (signal.aborted) return { counts, rejected, end: 'stopped' };
    return { counts: countsOf(error) ?? counts, rejected, end: 'failed', error };
  }
}

/** Returns the counts that a problem contains: those at the row at which the import stopped. */
function countsOf(error: unknown): ImportCounts | undefined {
  return error instanceof RequestError ? (error.problem['data'] as ImportCounts | undefined) : undefined;
}
