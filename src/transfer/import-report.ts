import { type Issue, Problem } from '../errors.ts';
import type { Outcome, RowResult } from '../pipeline/index.ts';
import type { ImportOptions } from '../request/index.ts';

/** The outcome of importing a row. */
export interface ImportItem {
  readonly row: number;
  readonly outcome: Outcome<RowResult>;
}

/** A rejected row. */
export interface Rejection {
  readonly row: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly Issue[];
  readonly decisionId?: string;
}

/** The numbers of rows by outcome; in a dry run, the outcomes that they would have. */
export interface ImportCounts {
  readonly imported: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
}

/** The result of an import. */
export interface ImportSummary {
  readonly counts: ImportCounts;
  /** Id of the first audit entry; undefined if no row was decided. */
  readonly decisionId: string | undefined;
}

/** The counts after a batch of rows that was committed. */
export interface ImportProgress {
  readonly progress: ImportCounts & {
    /** The last row of the batch. */
    readonly row: number;
  };
  /** Id of the first audit entry of the import. */
  readonly decisionId?: string;
}

/** Counts the outcomes of the rows of an import. */
export interface ImportReport {
  /** Counts outcomes and yields rejections. Throws the problem of a row that stops the import. */
  add(items: readonly ImportItem[]): Generator<Rejection>;
  /** Returns the counts so far; undefined before the first row. */
  progress(): ImportProgress | undefined;
  /** Converts the error that ended the import into a problem with the counts so far. */
  stoppedBy(error: unknown): Problem;
  summary(): ImportSummary;
}

/** Returns true if the import ends with this row. An internal error and a time limit always end it, because the next row would fail too. */
export function stops({ outcome }: ImportItem, { onError }: Pick<ImportOptions, 'onError'>): boolean {
  if (!('problem' in outcome)) return false;
  const { status, code } = outcome.problem;
  return onError === 'stop' || status >= 500 || code === 'REQUEST_BUDGET';
}

/** Creates an empty report. */
export function createImportReport(options: ImportOptions): ImportReport {
  const counts = { imported: 0, updated: 0, unchanged: 0, rejected: 0 };
  let decisionId: string | undefined;
  let lastRow: number | undefined;

  return {
    *add(items) {
      for (const item of items) {
        const { row, outcome } = item;
        decisionId ??= outcome.decisionId;
        lastRow = row;
        if ('result' in outcome) counts[outcome.result]++;
        else {
          counts.rejected++;
          if (stops(item, options)) throw atRow(row, outcome);
          yield toRejection(row, outcome);
        }
      }
    },
    progress() {
      if (lastRow === undefined) return undefined;
      return { progress: { ...counts, row: lastRow }, ...(decisionId !== undefined && { decisionId }) };
    },
    stoppedBy(error) {
      const problem = error instanceof Problem ? error : new Problem('INTERNAL', 'the import could not be completed', { cause: error });
      // A dry run is rolled back before its commit.
      const isUnknown = problem.extras.mayBeStored === true && !options.dryRun;
      const done = options.atomic ? { ...counts, imported: 0, updated: 0, unchanged: 0 } : counts;
      const summary = isUnknown ? describeUnknown(done, options, lastRow) : describeDone(done, options);
      const counted = { ...done, ...(options.dryRun && { dryRun: true }), ...(lastRow !== undefined && { lastRow }) };
      const data = isUnknown && options.atomic ? {} : { data: counted };
      // Overrides the default hint of storage errors, which says that nothing was changed.
      const hint = problem.extras.hint ?? (problem.status >= 500 ? summary : undefined);
      return new Problem(problem.code, `${problem.detail}; ${summary}`, {
        ...problem.extras,
        ...(hint !== undefined && { hint }),
        ...data,
      });
    },
    summary: () => ({ counts: { ...counts }, decisionId }),
  };
}

function describeDone({ imported, updated }: ImportCounts, { atomic, dryRun }: ImportOptions): string {
  if (atomic || dryRun || imported + updated === 0) return 'nothing was stored';
  return `before this, ${imported} ${imported === 1 ? 'row was' : 'rows were'} imported and ${updated} updated; these changes are kept`;
}

/** Describes an import whose last commit has an unknown outcome: the counts contain only the batches before. */
function describeUnknown(done: ImportCounts, options: ImportOptions, lastRow: number | undefined): string {
  if (options.atomic) return 'the rows may have been stored';
  if (lastRow === undefined) return 'the first batch may have been stored';
  const before = done.imported + done.updated === 0 ? '' : `${describeDone(done, options)}; `;
  return `${before}the batch after row ${lastRow} may have been stored`;
}

type FailedOutcome = Extract<ImportItem['outcome'], { problem: Problem }>;

function atRow(row: number, { problem, decisionId }: FailedOutcome): Problem {
  const { code, detail, extras } = problem;
  return new Problem(code, `row ${row}: ${detail}`, { ...extras, ...(decisionId !== undefined && { decisionId }) });
}

function toRejection(row: number, { problem, decisionId }: FailedOutcome): Rejection {
  const { code, detail, extras } = problem;
  return {
    row,
    code,
    detail,
    ...(extras.errors !== undefined && { errors: extras.errors }),
    ...(decisionId !== undefined && { decisionId }),
  };
}
