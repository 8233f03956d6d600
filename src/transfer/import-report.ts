import { type Issue, Problem } from '../errors.ts';
import type { Outcome, RowDone } from '../pipeline/index.ts';
import type { ImportOptions } from '../request/index.ts';

/** What a row came to. */
export interface ImportItem {
  readonly row: number;
  readonly outcome: Outcome<RowDone>;
}

/** A row that was not stored, and why. */
export interface Rejection {
  readonly row: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly Issue[];
  readonly decisionId?: string;
}

/** How many rows came to what; of a dry run, to what they would have come. */
export interface ImportCounts {
  readonly imported: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
}

/** What an import came to. */
export interface ImportSummary {
  readonly counts: ImportCounts;
  /** The first entry that it left; undefined where no row came to a decision. */
  readonly decisionId: string | undefined;
}

/** Counts what the rows of one import come to. */
export interface ImportReport {
  /** Counts, and gives those that are rejected. Throws the problem of the one that stops the import. */
  add(items: readonly ImportItem[]): Generator<Rejection>;
  /** Whatever ended the import early, as a problem that says what was done before. */
  stoppedBy(error: unknown): Problem;
  summary(): ImportSummary;
}

/** Whether the import ends with this row. One that we failed is never passed over, whatever was asked for: the next would fail too. */
export function stops({ outcome }: ImportItem, { onError }: Pick<ImportOptions, 'onError'>): boolean {
  return 'problem' in outcome && (onError === 'stop' || outcome.problem.status >= 500);
}

/** A tally of an import that has not begun. */
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
    stoppedBy(error) {
      const problem = error instanceof Problem ? error : new Problem('INTERNAL', 'the import could not be completed', { cause: error });
      const done = options.atomic ? { ...counts, imported: 0, updated: 0, unchanged: 0 } : counts;
      const told = tellDone(done, options);
      const data = { ...done, ...(options.dryRun && { dryRun: true }), ...(lastRow !== undefined && { lastRow }) };
      // The usual hint of a storage that fails is that nothing was changed.
      const hint = problem.extras.hint ?? (problem.status >= 500 ? told : undefined);
      return new Problem(problem.code, `${problem.detail}; ${told}`, { ...problem.extras, ...(hint !== undefined && { hint }), data });
    },
    summary: () => ({ counts: { ...counts }, decisionId }),
  };
}

function tellDone({ imported, updated }: ImportCounts, { atomic, dryRun }: ImportOptions): string {
  if (atomic || dryRun) return 'nothing was stored';
  return `before it, ${imported} ${imported === 1 ? 'row was' : 'rows were'} imported and ${updated} updated, and stay so`;
}

type Failed = Extract<ImportItem['outcome'], { problem: Problem }>;

function atRow(row: number, { problem, decisionId }: Failed): Problem {
  const { code, detail, extras } = problem;
  return new Problem(code, `row ${row}: ${detail}`, { ...extras, ...(decisionId !== undefined && { decisionId }) });
}

function toRejection(row: number, { problem, decisionId }: Failed): Rejection {
  const { code, detail, extras } = problem;
  return {
    row,
    code,
    detail,
    ...(extras.errors !== undefined && { errors: extras.errors }),
    ...(decisionId !== undefined && { decisionId }),
  };
}
