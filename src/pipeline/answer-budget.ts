import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { type Budget, type BudgetLimits, createBudget, describeLimit, type Transaction } from '../storage/index.ts';
import type { PipelineOptions, RequestContext, Result } from './request-context.ts';

/** Bytes of the status, the envelope and the decision id of one request in an answer, or of the problem that refuses it. */
const ITEM_BYTES = 512;
/** Milliseconds in which a statement that began before the limit, and the rest of the request, may still run. */
const GRACE = 250;

/** Creates the budget of one run of a unit of work. Callers without a user id get a part of the limits. */
export function createCallerBudget(tx: Transaction, { budget, anonymousBudget }: PipelineOptions, userId: string | undefined): Budget {
  const limits = userId === undefined ? partOf(budget, anonymousBudget) : budget;
  tx.limitTime(limits.milliseconds + GRACE);
  return createBudget(limits);
}

function partOf({ milliseconds, rows, answerBytes, writeMilliseconds, ...others }: BudgetLimits, percent: number): BudgetLimits {
  const part = (limit: number): number => Math.ceil((limit * percent) / 100);
  return {
    ...others,
    milliseconds: part(milliseconds),
    rows: part(rows),
    answerBytes: part(answerBytes),
    writeMilliseconds: writeMilliseconds === undefined ? undefined : part(writeMilliseconds),
  };
}

/** Adds the envelopes of a batch to the answer. */
export function addEnvelopes({ answer }: Budget, items: number): void {
  answer.share(items * ITEM_BYTES);
}

/** Milliseconds of work between two checks of the time. */
const SLICE_TIME = 2;

type AnswerContext = Pick<RequestContext, 'budget' | 'request' | 'tx'>;

/**
 * Adds the result of a request to the answer. The only result of an answer fits without its expanded records, because a page is limited while
 * it is loaded.
 *
 * @throws Problem REQUEST_BUDGET if the result does not fit
 */
export function addToAnswer(context: AnswerContext, result: Result): void | Promise<void> {
  const { budget, request } = context;
  return budget.answer.isShared || request.expand !== undefined ? addParts(context, result) : undefined;
}

async function addParts({ budget, tx }: AnswerContext, { data, extras }: Result): Promise<void> {
  const { answer } = budget;
  let checked = performance.now();
  for (const part of partsOf(data)) {
    if (!answer.add(part)) throw toAnswerProblem(budget);
    // Only after a list: the time since the statements of a list before a write would include the write.
    if (!Array.isArray(data) || performance.now() - checked < SLICE_TIME) continue;
    await tx.checkTime();
    checked = performance.now();
  }
  if (extras !== undefined && !answer.add(extras)) throw toAnswerProblem(budget);
}

/** Returns the parts of a result: a record and its expanded records are several parts, because the first part of an answer always fits. */
function* partsOf(data: unknown): Generator<Json> {
  if (Array.isArray(data)) for (const item of data) yield* partsOf(item);
  else if (typeof data !== 'object' || data === null || !('expand' in data)) yield (data ?? null) as Json;
  else {
    const { expand, ...own } = data as { readonly expand: Json };
    yield own as Json;
    yield expand;
  }
}

/** Returns the problem of a result that does not fit in the answer. */
export function toAnswerProblem({ limits }: Budget): Problem {
  return new Problem('REQUEST_BUDGET', `the answer would exceed the limit of ${describeLimit(limits, 'answerBytes')}`, {
    hint: 'ask for a smaller limit, for fewer fields, or send fewer requests in a batch',
  });
}
