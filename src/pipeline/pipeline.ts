/**
 * The life of a request inside its transaction: a row for each action, a column for each step. A reader sees here
 * that no action skips deciding, checking or recording. Every cell is a function in `steps/`.
 */
import type { ActionName } from '../actions.ts';
import { type AuditEntry, appendAll } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import type { Transaction } from '../storage/index.ts';
import type { Job, Result, StepRow } from './step-context.ts';
import { checkAll, checkDeleted, checkKept, checkNothing, checkRecord, checkValuesOnly, checkVersion } from './steps/check-record.ts';
import {
  decideDeletion,
  decideDescription,
  decideEachProposed,
  decideOpen,
  decideProposed,
  decideReading,
  decideRecord,
  decideUpdate,
  redecide,
  redecideNothing,
} from './steps/decide-request.ts';
import { select } from './steps/list-records.ts';
import { loadById, loadDeletedById, loadNothing } from './steps/load-record.ts';
import { insertUnlessMatched, saveMatch } from './steps/match-records.ts';
import { HashNeeded } from './steps/password-hashes.ts';
import { restoreRecords } from './steps/restore-records.ts';
import { readEach, readForCreate, readForUpdate, readNothing } from './steps/submitted-values.ts';
import { describe, insert, insertEach, remove, save, show } from './steps/write-record.ts';

/** Action → load, read values, decide, check, decide the change, perform. */
export const PIPELINE: Readonly<Record<ActionName, StepRow>> = {
  create: [loadNothing, readForCreate, decideProposed, checkValuesOnly, redecideNothing, insert],
  read: [loadById, readNothing, decideRecord, checkRecord, redecideNothing, show],
  update: [loadById, readForUpdate, decideUpdate, checkAll, redecide, save],
  delete: [loadById, readNothing, decideRecord, checkVersion, redecideNothing, remove],
  list: [loadNothing, readNothing, decideOpen, checkNothing, redecideNothing, select],
  export: [loadNothing, readNothing, decideOpen, checkNothing, redecideNothing, select],
  import: [loadNothing, readEach, decideEachProposed, checkValuesOnly, redecideNothing, insertEach],
  createIfNotExists: [loadNothing, readForCreate, decideProposed, checkNothing, decideReading, insertUnlessMatched],
  updateIfExists: [loadNothing, readNothing, decideOpen, checkNothing, decideReading, saveMatch],
  restore: [loadDeletedById, readNothing, decideRecord, checkDeleted, redecideNothing, restoreRecords],
  listDeleted: [loadNothing, readNothing, decideOpen, checkKept, decideDeletion, select],
  schema: [loadNothing, readNothing, decideDescription, checkNothing, redecideNothing, describe],
};

/** What a request came to: a result or a problem, and the entry that its answer names. */
export type Outcome<Done = Result> =
  | { readonly result: Done; readonly decisionId: string | undefined }
  | { readonly problem: Problem; readonly decisionId: string | undefined };

/** Takes the steps of the job's action. Throws a Problem where one refuses; the entries made so far are in the job. */
export async function runPipeline(job: Job): Promise<Result> {
  const [load, readValues, decide, check, decideChange, perform] = PIPELINE[job.request.action];
  const found = await load(job);
  const proposals = readValues(job, found);
  const decision = await decide(job, found, proposals);
  await check(job, found, proposals);
  const decided = { found, proposals, decision };
  const also = await decideChange(job, decided);
  return perform(job, { ...decided, also });
}

/** Runs the pipeline so that a refusal undoes what was written, and gives the outcome with every entry still to be appended. */
export function settle(job: Job): Promise<Outcome> {
  return settleWork(job, () => runPipeline(job));
}

/** The same for work that is a part of an action: a row of an import. */
export async function settleWork<Done>(job: Job, work: () => Promise<Done>): Promise<Outcome<Done>> {
  try {
    const result = await job.tx.savepoint(work);
    return { result, decisionId: job.entries[0]?.id };
  } catch (error) {
    const problem = toProblem(error);
    return { problem, decisionId: problem.extras.decisionId ?? job.entries[0]?.id };
  }
}

/** Runs requests or rows that stand together. Answers whether `work` said no; what it wrote is undone then. */
export async function undoneUnless(tx: Transaction, work: () => Promise<boolean>): Promise<boolean> {
  try {
    await tx.savepoint(async () => {
      if (!(await work())) throw new Undo();
    });
    return false;
  } catch (error) {
    if (error instanceof Undo) return true;
    throw error;
  }
}

class Undo extends Error {}

/** Appends the job's entries. What was allowed and came to nothing all the same, as a row of a denied import, says why. */
export async function appendEntries(job: Job, outcome: Outcome<unknown>): Promise<void> {
  const failure = 'problem' in outcome ? outcome.problem.code : undefined;
  const entries = failure === undefined ? job.entries : job.entries.map((entry) => (entry.allowed ? withOutcome(entry, failure) : entry));
  await appendFor(job, entries);
}

/** Appends entries of a job as they are. */
export async function appendFor({ tx, appended }: Job, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) appended.push(entry);
  await appendAll(tx, entries);
}

/** Anything thrown, as a problem for the caller. A failing database is passed on: without it nothing can be recorded either. */
function toProblem(error: unknown): Problem {
  if (!(error instanceof Problem)) {
    if (error instanceof HashNeeded) throw error;
    return new Problem('INTERNAL', 'the request could not be completed', { cause: error });
  }
  if (error.code === 'STORAGE_UNAVAILABLE' || error.code === 'STORAGE_BUSY') throw error;
  return error;
}

function withOutcome(entry: AuditEntry, outcome: string): AuditEntry {
  return { ...entry, outcome };
}
