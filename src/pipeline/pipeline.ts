/**
 * The steps of every action: one row per action, one column per step. The table shows that no action skips deciding,
 * validating or auditing. Every cell is a function in `steps/`, or `none`.
 */
import type { ActionName } from '../actions.ts';
import { type AuditEntry, appendAuditEntries } from '../audit/index.ts';
import type { Decision } from '../authz/decision/index.ts';
import { Problem } from '../errors.ts';
import type { Transaction } from '../storage/index.ts';
import type { Decided, Found, Proposal, RequestContext, Result } from './request-context.ts';
import {
  decideChanged,
  decideDeletion,
  decideDescription,
  decideEachProposed,
  decideOpen,
  decideProposed,
  decideReading,
  decideRecord,
  decideUpdate,
} from './steps/decide-request.ts';
import { selectPage } from './steps/list-records.ts';
import { loadById, loadDeletedById } from './steps/load-record.ts';
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

/** Marks a step that an action does not need. No action can leave out `decide` or `perform`. */
const none = undefined;

/** Action → load, values, decide, validate, decide the change, perform. */
export const PIPELINE: Readonly<Record<ActionName, Steps>> = {
  create: [none, valuesForCreate, decideProposed, validateSubmittedValues, none, insert],
  read: [loadById, none, decideRecord, validateRecord, none, show],
  update: [loadById, valuesForUpdate, decideUpdate, validateVersionAndValues, decideChanged, save],
  delete: [loadById, none, decideRecord, validateVersion, none, remove],
  list: [none, none, decideOpen, none, none, selectPage],
  export: [none, none, decideOpen, none, none, selectPage],
  import: [none, valuesForImport, decideEachProposed, validateSubmittedValues, none, insertEach],
  createIfNotExists: [none, valuesForCreate, decideProposed, none, decideReading, insertUnlessMatched],
  updateIfExists: [none, none, decideOpen, none, decideReading, saveMatch],
  restore: [loadDeletedById, none, decideRecord, validateDeleted, none, restoreRecords],
  listDeleted: [none, none, decideOpen, validateSoftDelete, decideDeletion, selectPage],
  schema: [none, none, decideDescription, none, none, describe],
};

/** The steps of one action, in order. */
export type Steps = readonly [
  load: ((context: RequestContext) => Promise<Found>) | undefined,
  values: ((context: RequestContext, found: Found) => readonly Proposal[]) | undefined,
  /** Returns the decision and adds its entry to the context. @throws Problem ACCESS_DENIED */
  decide: (context: RequestContext, found: Found, proposals: readonly Proposal[]) => Promise<Decision>,
  /** Refuses a request that is allowed but impossible: an unknown record, another version, invalid values. */
  validate: ((context: RequestContext, found: Found, proposals: readonly Proposal[]) => Promise<void>) | undefined,
  /** Decides on the changed record; or makes the second decision of an action that needs two, and returns it. */
  decideChange: ((context: RequestContext, decided: Decided) => Promise<Decision | undefined>) | undefined,
  perform: (context: RequestContext, decided: Decided) => Promise<Result>,
];

/** The outcome of a request: a result or a problem, and the id of the audit entry that the response names. */
export type Outcome<Done = Result> =
  | { readonly result: Done; readonly decisionId: string | undefined }
  | { readonly problem: Problem; readonly decisionId: string | undefined };

/** Runs the steps of the action. A refusal rolls back what they wrote; the entries of their decisions stay in the context, to be appended. */
export function runPipeline(context: RequestContext): Promise<Outcome> {
  const [load, values, decide, validate, decideChange, perform] = PIPELINE[context.request.action];
  return runInSavepoint(context, async () => {
    const found = load === none ? [] : await load(context);
    const proposals = values === none ? [] : values(context, found);
    const decision = await decide(context, found, proposals);
    if (validate !== none) await validate(context, found, proposals);
    const also = decideChange === none ? undefined : await decideChange(context, { found, proposals, decision });
    return perform(context, { found, proposals, decision, also });
  });
}

/** Runs `work` in a savepoint. If it throws a Problem, what it wrote is rolled back and the problem is the outcome. */
export async function runInSavepoint<Done>(context: RequestContext, work: () => Promise<Done>): Promise<Outcome<Done>> {
  try {
    const result = await context.tx.savepoint(work);
    return { result, decisionId: context.entries[0]?.id };
  } catch (error) {
    const problem = toProblem(error);
    return { problem, decisionId: problem.extras.decisionId ?? context.entries[0]?.id };
  }
}

/** Runs `work` in a savepoint and rolls it back if it returns false. Returns true if it was rolled back. */
export async function rollBackUnless(tx: Transaction, work: () => Promise<boolean>): Promise<boolean> {
  try {
    await tx.savepoint(async () => {
      if (!(await work())) throw new RolledBack();
    });
    return false;
  } catch (error) {
    if (error instanceof RolledBack) return true;
    throw error;
  }
}

class RolledBack extends Error {}

/** Appends the entries of a request. If it failed, its allowed entries name the failure as their outcome. */
export async function appendEntries(context: RequestContext, outcome: Outcome<unknown>): Promise<void> {
  const failure = 'problem' in outcome ? outcome.problem.code : undefined;
  const entries =
    failure === undefined ? context.entries : context.entries.map((entry) => (entry.allowed ? withOutcome(entry, failure) : entry));
  await appendUnchanged(context, entries);
}

/** Appends entries unchanged. */
export async function appendUnchanged({ tx, appended }: RequestContext, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) appended.push(entry);
  await appendAuditEntries(tx, entries);
}

/** Returns the problem for the caller. A failure of the database is thrown: no audit entry can be written then. */
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
