import { READ_ONLY_ACTIONS } from '../actions.ts';
import { isRefusedToken, Problem } from '../errors.ts';
import { type ApiRequest, type BatchRequest, hasItemReferences, importedRows, type RequestOrigin } from '../request/index.ts';
import { addEnvelopes } from './answer-budget.ts';
import { runAll, runEach } from './batch.ts';
import { type FindEntryId, problemWithEntryId, withEntryId } from './entry-ids.ts';
import { appendWithOutcome, type Outcome, runPipeline } from './pipeline.ts';
import { findRecordLocks } from './record-locks.ts';
import { createRequestContext, type PipelineDeps } from './request-context.ts';
import { authenticate, identifyAgain, withAuditMode, withUnitOfWork } from './unit-of-work.ts';

/**
 * Handles a request: verifies the token, opens a unit of work at the current revision, runs the steps of the action, appends the audit
 * entries, and returns the outcome after the commit.
 */
export async function handle(deps: PipelineDeps, request: ApiRequest, origin: RequestOrigin): Promise<Outcome> {
  const caller = await authenticate(deps, origin);
  const writes = importedRows([{ request }]);
  const run = (isAudited: boolean): Promise<Outcome> =>
    withUnitOfWork(deps, { caller, requests: [request], writes, withEntryIds: withEntryId }, async (unit) => {
      const context = createRequestContext(unit, request);
      const outcome = await runPipeline(context);
      if ('result' in outcome) context.hashes.assertComplete();
      if (isAudited) appendWithOutcome(context, outcome);
      return outcome;
    });
  return READ_ONLY_ACTIONS.has(request.action) ? withAuditMode(deps, run) : run(true);
}

/** Handles the requests of a batch in one unit of work. @throws Problem if a request of an atomic batch fails */
export async function handleBatch(deps: PipelineDeps, { items, atomic }: BatchRequest, origin: RequestOrigin): Promise<readonly Outcome[]> {
  const caller = await authenticate(deps, origin);
  const locks = findRecordLocks(items);
  const outcomes = await withUnitOfWork(
    deps,
    { caller, requests: requestsOf(items), writes: importedRows(items), withEntryIds },
    async (unit) => {
      addEnvelopes(unit.budget, items.length);
      const createContext = async (request: ApiRequest) => createRequestContext(await identifyAgain(unit), request);
      const done = await (atomic ? runAll : runEach)({ tx: unit.tx, items, locks, createContext });
      if (!(done instanceof Problem)) unit.hashes.assertComplete();
      return done;
    },
  );
  // Thrown after the commit: inside the transaction, it would roll back the audit entries.
  if (outcomes instanceof Problem) throw outcomes;
  return outcomes.some(isRefused) ? recordRefusals(deps, outcomes, origin) : outcomes;
}

function isRefused(outcome: Outcome): boolean {
  return 'problem' in outcome && isRefusedToken(outcome.problem);
}

/**
 * Commits the audit entry of the requests that were refused because an earlier one ended the session. Returns the outcomes with the id of the entry.
 * If it cannot be committed, the outcome is that failure: the other requests are stored.
 */
async function recordRefusals(
  { identity }: PipelineDeps,
  outcomes: readonly Outcome[],
  origin: RequestOrigin,
): Promise<readonly Outcome[]> {
  const recorded: Outcome[] = [];
  for (const outcome of outcomes) {
    if (!('problem' in outcome) || !isRefusedToken(outcome.problem)) recorded.push(outcome);
    else {
      const problem = await identity.recordRefusedToken(outcome.problem, origin).catch(toFailure);
      recorded.push({ problem, decisionId: problem.extras.decisionId });
    }
  }
  return recorded;
}

function toFailure(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('INTERNAL', 'the refusal could not be recorded', { cause: error });
}

function withEntryIds(outcomes: readonly Outcome[] | Problem, findEntryId: FindEntryId): readonly Outcome[] | Problem {
  if (outcomes instanceof Problem) return problemWithEntryId(outcomes, findEntryId);
  return outcomes.map((outcome) => withEntryId(outcome, findEntryId));
}

/** Returns the requests of a batch whose values are known. Those of requests that refer to the results of others are not. */
function requestsOf(items: BatchRequest['items']): readonly ApiRequest[] {
  const requests = items.flatMap(({ request }) => (request instanceof Problem ? [] : [request]));
  return requests.some(hasItemReferences) ? [] : requests;
}
