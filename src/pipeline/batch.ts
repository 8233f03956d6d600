import { isRefusedToken, Problem } from '../errors.ts';
import { type ApiRequest, type BatchItem, fillItemReferences } from '../request/index.ts';
import type { Transaction } from '../storage/index.ts';
import { appendAsDecided, appendWithOutcome, type Outcome, runPipeline } from './pipeline.ts';
import { lockBefore, type RecordLocks } from './record-locks.ts';
import type { RequestContext } from './request-context.ts';
import { rollBackUnless } from './roll-back.ts';

/** The requests of a batch and their unit of work. */
export interface Batch {
  readonly tx: Transaction;
  /** The requests in the order of the body. */
  readonly items: readonly BatchItem[];
  readonly locks: RecordLocks;
  /** Creates the context of a request. Identifies the caller again if an earlier request may have changed the user. @throws Problem RESOURCE_UNKNOWN */
  createContext(request: ApiRequest): Promise<RequestContext>;
}

interface Item {
  readonly outcome: Outcome;
  /** The context of the request; absent if the request was refused before a decision. */
  readonly context?: RequestContext;
}

/** Runs the requests of a batch in order, in one transaction. A failed request does not roll back the other requests. */
export async function runEach(batch: Batch): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const sent of batch.items) {
    const { outcome, context } = await runItem(batch, sent, outcomes);
    if (context !== undefined) appendWithOutcome(context, outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

/**
 * Runs the requests of an atomic batch in order. If a request fails, rolls back all requests and returns the problem. Appends the audit
 * entries in both cases; the entries of requests before the failed request have the outcome BATCH_ABORTED.
 */
export async function runAll(batch: Batch): Promise<readonly Outcome[] | Problem> {
  const ran: Item[] = [];
  const failed = await rollBackUnless(batch.tx, async () => {
    for (const sent of batch.items) {
      const earlier = ran.map(({ outcome }) => outcome);
      ran.push(withUnmatchedProblem(sent, await runItem(batch, sent, earlier)));
      if ('problem' in (ran.at(-1) as Item).outcome) return false;
    }
    return true;
  });
  for (const [index, { context, outcome }] of ran.entries()) {
    if (context === undefined) continue;
    if (failed && index < ran.length - 1) await appendAborted(context);
    else appendWithOutcome(context, outcome);
  }
  return failed ? toBatchProblem(ran) : ran.map((item) => item.outcome);
}

async function runItem(batch: Batch, item: BatchItem, earlier: readonly Outcome[]): Promise<Item> {
  const { request } = item;
  if (request instanceof Problem) return { outcome: { problem: request, decisionId: undefined } };
  try {
    await lockBefore(batch, item);
    const context = await batch.createContext(fillItemReferences(request, (index) => idOfResult(earlier[index], index)));
    return { outcome: await runPipeline(context), context };
  } catch (error) {
    if (error instanceof Problem && error.status !== 503) return { outcome: { problem: error, decisionId: undefined } };
    throw error;
  }
}

/** Returns the id of the record in the result of an earlier request. */
function idOfResult(outcome: Outcome | undefined, index: number): string {
  const data = outcome !== undefined && 'result' in outcome ? outcome.result.data : undefined;
  const id = typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined;
  if (typeof id === 'string') return id;
  throw new Problem('BATCH_DEPENDENCY', `request ${index} returned no record, so $${index}.id has no value`);
}

/** In an atomic batch, replaces the result of an updateIfExists that matched no record by a problem, unless the request is optional. */
function withUnmatchedProblem({ optional }: BatchItem, item: Item): Item {
  const { outcome } = item;
  if (optional || !('result' in outcome) || outcome.result.extras?.['updated'] !== false) return item;
  const problem = new Problem('RECORD_UNMATCHED', 'the filter matches no record');
  return { ...item, outcome: { problem, decisionId: outcome.decisionId } };
}

async function appendAborted(context: RequestContext): Promise<void> {
  appendAsDecided(
    context,
    context.entries.map((entry) => ({ ...entry, outcome: 'BATCH_ABORTED' })),
  );
}

/** Returns the problem of the request that failed, with its index. A refused token is another problem: the session that was ended is open again. */
function toBatchProblem(ran: readonly Item[]): Problem {
  const index = ran.length - 1;
  const { outcome } = ran[index] as Item;
  if (!('problem' in outcome)) throw new Error('expected the last request of an aborted batch to be the one that failed');
  const { code, detail, extras } = isRefusedToken(outcome.problem) ? SESSION_ENDED : outcome.problem;
  const errors = (extras.errors ?? [{ path: '', code, detail }]).map((issue) => ({
    ...issue,
    path: `requests.${index}${issue.path === '' ? '' : '.'}${issue.path}`,
  }));
  const decisionId = outcome.decisionId === undefined ? {} : { decisionId: outcome.decisionId };
  return new Problem(code, `request ${index} failed and the batch was undone: ${detail}`, { ...extras, ...decisionId, errors });
}

const SESSION_ENDED = new Problem('BATCH_SESSION_ENDED', 'an earlier request of the batch ends the session of its caller');
