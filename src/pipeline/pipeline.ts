/**
 * The steps of every action: one row per action, one column per step. The table shows that no action skips authorization,
 * validation or auditing. Every cell is a function in `steps/`, or `none`.
 */
import type { ActionName } from '../actions.ts';
import { type AuditEntry, type AuditRow, appendAuditEntries, isCountable } from '../audit/index.ts';
import type { Decision } from '../authz/decision/index.ts';
import { Problem } from '../errors.ts';
import { addToAnswer } from './answer-budget.ts';
import type { Decided, Denials, Found, Proposal, RequestContext, Result } from './request-context.ts';
import {
  authorizeChange,
  authorizeDeletion,
  authorizeDescription,
  authorizeFirstRow,
  authorizeOpen,
  authorizeProposal,
  authorizeReading,
  authorizeRecord,
  authorizeUpdate,
} from './steps/authorize-action.ts';
import { listPage } from './steps/list-records.ts';
import { loadToDelete, loadToRead, loadToRestore, loadToUpdate } from './steps/load-record.ts';
import { HashNeeded } from './steps/password-changes.ts';
import { describe, show } from './steps/project-record.ts';
import { restoreRecords } from './steps/restore-records.ts';
import { valuesForCreate, valuesForImport, valuesForUpdate } from './steps/submitted-values.ts';
import {
  validateDeleted,
  validateRecord,
  validateSoftDelete,
  validateSubmittedValues,
  validateVersion,
  validateVersionAndValues,
} from './steps/validate-record.ts';
import { insert, insertEach, insertUnlessMatched, remove, save, saveMatch } from './steps/write-record.ts';

/** Marks a step that an action does not need. No action can leave out `authorize` or `perform`. */
const none = undefined;

/** Action → load, values, authorize, validate, second authorization, perform. */
export const PIPELINE: Readonly<Record<ActionName, Steps>> = {
  create: [none, valuesForCreate, authorizeProposal, validateSubmittedValues, none, insert],
  read: [loadToRead, none, authorizeRecord, validateRecord, none, show],
  update: [loadToUpdate, valuesForUpdate, authorizeUpdate, validateVersionAndValues, authorizeChange, save],
  delete: [loadToDelete, none, authorizeRecord, validateVersion, none, remove],
  list: [none, none, authorizeOpen, none, none, listPage],
  export: [none, none, authorizeOpen, none, none, listPage],
  import: [none, valuesForImport, authorizeFirstRow, none, none, insertEach],
  createIfNotExists: [none, valuesForCreate, authorizeProposal, none, authorizeReading, insertUnlessMatched],
  updateIfExists: [none, none, authorizeOpen, none, authorizeReading, saveMatch],
  restore: [loadToRestore, none, authorizeRecord, validateDeleted, none, restoreRecords],
  listDeleted: [none, none, authorizeOpen, validateSoftDelete, authorizeDeletion, listPage],
  schema: [none, none, authorizeDescription, none, none, describe],
};

/** The steps of one action, in order. */
export type Steps = readonly [
  load: ((context: RequestContext) => Found | Promise<Found>) | undefined,
  values: ((context: RequestContext, found: Found) => readonly Proposal[]) | undefined,
  /** Decides, adds the entry to the context, and returns the decision. @throws Problem ACCESS_DENIED */
  authorize: (context: RequestContext, found: Found, proposals: readonly Proposal[]) => Promise<Decision>,
  /** Refuses a request that is allowed but impossible: an unknown record, another version, invalid values. */
  validate: ((context: RequestContext, found: Found, proposals: readonly Proposal[]) => void | Promise<void>) | undefined,
  /** Makes the second decision: on the changed record, or on another action. @throws Problem ACCESS_DENIED */
  authorizeSecond: ((context: RequestContext, decided: Decided) => Promise<Decision | undefined>) | undefined,
  perform: (context: RequestContext, decided: Decided) => Promise<Result>,
];

/** The outcome of a request: a result or a problem, and the id of the audit entry that the response names. */
export type Outcome<T = Result> =
  | { readonly result: T; readonly decisionId: string | undefined }
  | { readonly problem: Problem; readonly decisionId: string | undefined };

/** Runs the steps of the action. A refusal rolls back the writes of the steps; the audit entries of the decisions stay in the context, to be appended. */
export function runPipeline(context: RequestContext): Promise<Outcome> {
  const [load, values, authorize, validate, authorizeSecond, perform] = PIPELINE[context.request.action];
  context.budget.beginRequest();
  return runInSavepoint(context, async () => {
    const found = load === none ? [] : await load(context);
    const proposals = values === none ? [] : values(context, found);
    const decision = await authorize(context, found, proposals);
    if (validate !== none) await validate(context, found, proposals);
    const secondDecision = authorizeSecond === none ? undefined : await authorizeSecond(context, { found, proposals, decision });
    const result = await perform(context, { found, proposals, decision, secondDecision });
    await addToAnswer(context, result);
    return result;
  });
}

/** Runs `work` in a savepoint. If it throws a Problem, its writes are rolled back and the problem is the outcome. */
export async function runInSavepoint<T>(context: RequestContext, work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    const result = await context.tx.savepoint(work);
    return { result, decisionId: context.entries[0]?.id };
  } catch (error) {
    const problem = toProblem(error);
    return { problem, decisionId: problem.extras.decisionId ?? context.entries[0]?.id };
  }
}

/**
 * Appends the audit entries of a request. If the request failed, the entries of allowed decisions get the failure as their outcome; those of
 * a dry run have the outcome DRY_RUN, because nothing was done.
 */
export function appendWithOutcome(context: RequestContext, outcome: Outcome<unknown>): void {
  const failure = 'problem' in outcome ? outcome.problem.code : context.request.dryRun ? 'DRY_RUN' : undefined;
  const entries =
    failure === undefined ? context.entries : context.entries.map((entry) => (entry.allowed ? withOutcome(entry, failure) : entry));
  appendAsDecided(context, entries);
}

/** Appends audit entries without changing their outcome. */
export function appendAsDecided({ tx, appended, denials }: RequestContext, entries: readonly AuditEntry[]): void {
  for (const entry of entries) appended.push(entry);
  const rows = denials === undefined ? entries : entries.map((entry) => toRow(denials, entry));
  appendAuditEntries(tx, rows);
}

/** Appends the entry of an evaluation. It is not a decision about a request, so metrics do not count it. */
export function appendEvaluation({ tx, denials }: Pick<RequestContext, 'tx' | 'denials'>, entry: AuditEntry): void {
  appendAuditEntries(tx, [denials === undefined ? entry : toRow(denials, entry)]);
}

function toRow({ windows, appended }: Denials, entry: AuditEntry): AuditRow {
  if (!isCountable(entry)) return entry;
  const denial = { entry, windows };
  appended.push(denial);
  return denial;
}

/** Returns the problem for the caller. A failure of the database is thrown, because no audit entry can be written. */
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
