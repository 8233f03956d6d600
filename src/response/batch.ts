import type { Problem } from '../errors.ts';
import type { Answer } from '../request/index.ts';
import { type ProblemBody, toProblemBody } from './problem.ts';
import { type ActionResult, toSuccess } from './success.ts';

/** What one request of a batch came to; `decisionId` names its entry. */
export type ItemOutcome =
  | { readonly result: ActionResult; readonly decisionId?: string | undefined }
  | { readonly problem: Problem; readonly decisionId?: string | undefined };

/** One request's part in the answer to a batch. */
export type Item =
  | { readonly status: number; readonly success: true; readonly data: unknown; readonly [extra: string]: unknown }
  | { readonly status: number; readonly success: false; readonly error: ProblemBody; readonly decisionId?: string };

/** What would be the answer's status, headers and envelope, as one item. */
export function toItem(outcome: ItemOutcome, requestId: string): Item {
  const id = outcome.decisionId === undefined ? {} : { decisionId: outcome.decisionId };
  if ('problem' in outcome)
    return { status: outcome.problem.status, success: false, error: toProblemBody(outcome.problem, requestId), ...id };
  const { status, data, extras } = outcome.result;
  return { status, ...toSuccess(data, extras), ...id };
}

/** The answer to a batch: an item for each request, in order. What went wrong inside goes to the log. */
export function toBatchAnswer(outcomes: readonly ItemOutcome[], requestId: string): Answer {
  const causes = outcomes.flatMap((outcome) =>
    'problem' in outcome && outcome.problem.status >= 500 ? [outcome.problem.extras.cause ?? outcome.problem] : [],
  );
  return {
    status: 200,
    body: toSuccess(
      outcomes.map((outcome) => toItem(outcome, requestId)),
      { count: outcomes.length },
    ),
    ...(causes.length === 0 ? {} : { cause: new AggregateError(causes, `${causes.length} requests of a batch failed inside`) }),
  };
}
