import { Problem } from '../errors.ts';
import { type ApiRequest, type BatchItem, fillItemReferences } from '../request/index.ts';
import type { Transaction } from '../storage/index.ts';
import { appendEntries, appendFor, type Outcome, settle, undoneUnless } from './pipeline.ts';
import type { Job } from './step-context.ts';

/** The requests of a batch, and how each becomes a job. */
export interface Batch {
  readonly tx: Transaction;
  /** The requests in the order of the body. */
  readonly items: readonly BatchItem[];
  /** The job of whoever the caller is by then: the requests before may have changed that. Throws a Problem where the resource is unknown. */
  toJob(request: ApiRequest): Promise<Job>;
}

interface Item {
  readonly outcome: Outcome;
  /** Absent where the request never came to a decision. */
  readonly job?: Job;
}

/** Runs each request by itself, in order, in one commit: what one refuses does not undo the others. */
export async function runEach(batch: Batch): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const sent of batch.items) {
    const { outcome, job } = await runItem(batch, sent, outcomes);
    if (job !== undefined) await appendEntries(job, outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

/**
 * Runs all requests or none, and answers the problem of the one that failed. What was decided stays on the record
 * either way; entries of undone requests say BATCH_ABORTED.
 */
export async function runAll(batch: Batch): Promise<readonly Outcome[] | Problem> {
  const done: Item[] = [];
  const failed = await undoneUnless(batch.tx, async () => {
    for (const sent of batch.items) {
      const earlier = done.map(({ outcome }) => outcome);
      done.push(failedUnmatched(sent, await runItem(batch, sent, earlier)));
      if ('problem' in (done.at(-1) as Item).outcome) return false;
    }
    return true;
  });
  for (const [index, { job, outcome }] of done.entries()) {
    if (job === undefined) continue;
    if (failed && index < done.length - 1) await appendUndone(job);
    else await appendEntries(job, outcome);
  }
  return failed ? abortion(done) : done.map((item) => item.outcome);
}

async function runItem(batch: Batch, { request }: BatchItem, earlier: readonly Outcome[]): Promise<Item> {
  if (request instanceof Problem) return { outcome: { problem: request, decisionId: undefined } };
  try {
    const job = await batch.toJob(fillItemReferences(request, (index) => givenId(earlier[index], index)));
    return { outcome: await settle(job), job };
  } catch (error) {
    if (error instanceof Problem && error.status !== 503) return { outcome: { problem: error, decisionId: undefined } };
    throw error;
  }
}

/** The id of the record that an earlier request gave. */
function givenId(outcome: Outcome | undefined, index: number): string {
  const data = outcome !== undefined && 'result' in outcome ? outcome.result.data : undefined;
  const id = typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined;
  if (typeof id === 'string') return id;
  throw new Problem('BATCH_DEPENDENCY', `request ${index} gave no record that this one could refer to by $${index}.id`);
}

/** All or none means that what is to be updated is there: an updateIfExists without a match fails, unless it is optional. */
function failedUnmatched({ optional }: BatchItem, item: Item): Item {
  const { outcome } = item;
  if (optional || !('result' in outcome) || outcome.result.extras?.['updated'] !== false) return item;
  const problem = new Problem('RECORD_UNMATCHED', 'the filter matches no record');
  return { ...item, outcome: { problem, decisionId: outcome.decisionId } };
}

async function appendUndone(job: Job): Promise<void> {
  await appendFor(
    job,
    job.entries.map((entry) => ({ ...entry, outcome: 'BATCH_ABORTED' })),
  );
}

/** The problem of the request that failed, naming which one it was. */
function abortion(done: readonly Item[]): Problem {
  const index = done.length - 1;
  const { outcome } = done[index] as Item;
  if (!('problem' in outcome)) throw new Error('the last request of an undone batch is the one that failed');
  const { code, detail, extras } = outcome.problem;
  const errors = (extras.errors ?? [{ path: '', code, detail }]).map((issue) => ({
    ...issue,
    path: `requests.${index}${issue.path === '' ? '' : '.'}${issue.path}`,
  }));
  const decisionId = outcome.decisionId === undefined ? {} : { decisionId: outcome.decisionId };
  return new Problem(code, `request ${index} failed and the batch was undone: ${detail}`, { ...extras, ...decisionId, errors });
}
