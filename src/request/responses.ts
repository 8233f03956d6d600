import { type Issue, PROBLEMS, Problem, type ProblemCode } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import type { HttpResponse } from './http-messages.ts';

/** The result of an action. */
export interface ActionResult {
  readonly status: number;
  readonly data: unknown;
  /** Members beside `data`. */
  readonly extras?: JsonObject;
  /** Record version, for the ETag. */
  readonly version?: number;
  /** Path of a new record. */
  readonly location?: string;
}

/** Returns data in the envelope of a success, with extra members beside it. */
export function toSuccess<D, E extends object = Record<never, never>>(
  data: D,
  extras: E = {} as E,
): { readonly success: true; readonly data: D } & E {
  return { success: true, data, ...extras };
}

/** Returns the response for the result of an action. `decisionId` is the id of its audit entry. */
export function toResultResponse(result: ActionResult, decisionId?: string): HttpResponse {
  return { status: result.status, headers: resultHeaders(result, decisionId), body: toSuccess(result.data, result.extras) };
}

/** Returns the ETag of a version of a record, a policy or an assignment. */
export function toETag(version: number): string {
  return `"${version}"`;
}

function resultHeaders({ version, location }: ActionResult, decisionId: string | undefined): Record<string, string> {
  return {
    ...(version === undefined ? {} : { etag: toETag(version) }),
    ...(location === undefined ? {} : { location }),
    ...(decisionId === undefined ? {} : { 'x-decision-id': decisionId }),
  };
}

/** The media type of RFC 9457. */
const PROBLEM_TYPE = 'application/problem+json';

/** The body of a problem: RFC 9457, with `success: false` as in every envelope. */
export interface ProblemBody {
  readonly success: false;
  /** Path of the documentation of the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly hint?: string;
  readonly errors?: readonly Issue[];
  /** The result up to the failure: the counts of an import that stopped. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The stored version of a policy or an assignment, if If-Match names another one. */
  readonly currentVersion?: number;
  readonly requestId: string;
  readonly decisionId?: string;
}

/**
 * Returns the response for a thrown value. An error that is not a Problem becomes INTERNAL, without its message. The cause of
 * a problem with a 5xx status is logged and never sent.
 */
export function toProblemResponse(error: unknown, requestId: string): HttpResponse {
  const problem = toProblem(error);
  return {
    status: problem.status,
    headers: problemHeaders(problem),
    contentType: PROBLEM_TYPE,
    body: toProblemBody(problem, requestId),
    ...(problem.status >= 500 ? { cause: problem.extras.cause ?? problem } : {}),
  };
}

/** Returns the body of a problem. */
export function toProblemBody({ code, status, detail, extras }: Problem, requestId: string): ProblemBody {
  const kind = PROBLEMS[code];
  const hint = extras.hint ?? kind.hint;
  return {
    success: false,
    type: toProblemType(code),
    title: kind.title,
    status,
    code,
    detail,
    ...(hint === undefined ? {} : { hint }),
    ...(extras.errors === undefined || extras.errors.length === 0 ? {} : { errors: extras.errors }),
    ...(extras.data === undefined ? {} : { data: extras.data }),
    ...(extras.currentVersion === undefined ? {} : { currentVersion: extras.currentVersion }),
    requestId,
    ...(extras.decisionId === undefined ? {} : { decisionId: extras.decisionId }),
  };
}

/** Returns the path of the page that explains a code. The service serves it. */
function toProblemType(code: ProblemCode): string {
  return `/docs/errors#${code}`;
}

/** Returns a thrown value as a Problem; a value that is not a Problem becomes INTERNAL, with the value as its cause. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('INTERNAL', 'the request could not be completed', { cause: error });
}

/** The WWW-Authenticate header by problem code. RFC 6750: a challenge has an error code only if the request sent a token. */
const CHALLENGES: Partial<Record<ProblemCode, string>> = {
  IDENTITY_TOKEN: 'Bearer error="invalid_token", error_description="the token is not valid"',
  IDENTITY_TOKEN_EXPIRED: 'Bearer error="invalid_token", error_description="the token has expired"',
};

function problemHeaders({ code, status, extras }: Problem): Record<string, string> {
  const { retryAfter = PROBLEMS[code].retryAfter } = extras;
  return {
    ...(status === 401 ? { 'www-authenticate': CHALLENGES[code] ?? 'Bearer' } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(extras.decisionId === undefined ? {} : { 'x-decision-id': extras.decisionId }),
  };
}

/** The outcome of one request of a batch. `decisionId` is the id of its audit entry. */
export type ItemOutcome =
  | { readonly result: ActionResult; readonly decisionId?: string | undefined }
  | { readonly problem: Problem; readonly decisionId?: string | undefined };

/** The item of one request in the response to a batch. */
export type BatchItemResult =
  | { readonly status: number; readonly success: true; readonly data: unknown; readonly [extra: string]: unknown }
  | { readonly status: number; readonly success: false; readonly error: ProblemBody; readonly decisionId?: string };

/** Returns the status, the body and the decision id of a response as one item. */
export function toBatchItem(outcome: ItemOutcome, requestId: string): BatchItemResult {
  const id = outcome.decisionId === undefined ? {} : { decisionId: outcome.decisionId };
  if ('problem' in outcome)
    return { status: outcome.problem.status, success: false, error: toProblemBody(outcome.problem, requestId), ...id };
  const { status, data, extras } = outcome.result;
  return { status, ...toSuccess(data, extras), ...id };
}

/** Returns the response to a batch, with one item per request, in order. The internal errors of the requests become the logged cause. */
export function toBatchResponse(outcomes: readonly ItemOutcome[], requestId: string): HttpResponse {
  const causes = outcomes.flatMap((outcome) =>
    'problem' in outcome && outcome.problem.status >= 500 ? [outcome.problem.extras.cause ?? outcome.problem] : [],
  );
  return {
    status: 200,
    body: toSuccess(
      outcomes.map((outcome) => toBatchItem(outcome, requestId)),
      { count: outcomes.length },
    ),
    ...(causes.length === 0
      ? {}
      : { cause: new AggregateError(causes, `${causes.length} requests of a batch failed with an internal error`) }),
  };
}
