import { type Issue, PROBLEMS, Problem, type ProblemCode } from '../errors.ts';
import type { Answer } from '../request/index.ts';

/** The media type of RFC 9457. */
export const PROBLEM_TYPE = 'application/problem+json';

/** A problem as callers see it: RFC 9457, with `success: false` as in every envelope. */
export interface ProblemBody {
  readonly success: false;
  /** Address of the sentence that explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly hint?: string;
  readonly errors?: readonly Issue[];
  /** What was done all the same: the counts of an import that stopped. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
  readonly decisionId?: string;
}

/**
 * Anything thrown, as an answer. What is not a Problem is answered as INTERNAL, without a word of it; the cause of
 * that, and of anything else that is our fault, goes to the log alone.
 */
export function toProblemAnswer(error: unknown, requestId: string): Answer {
  const problem = toProblem(error);
  return {
    status: problem.status,
    headers: problemHeaders(problem),
    contentType: PROBLEM_TYPE,
    body: toProblemBody(problem, requestId),
    ...(problem.status >= 500 ? { cause: problem.extras.cause ?? problem } : {}),
  };
}

/** The body of a problem. */
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
    requestId,
    ...(extras.decisionId === undefined ? {} : { decisionId: extras.decisionId }),
  };
}

/** Where a code is explained, relative to the service, which serves that page itself. */
export function toProblemType(code: ProblemCode): string {
  return `/docs/errors#${code}`;
}

/** Anything thrown, as a Problem. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('INTERNAL', 'the request could not be completed', { cause: error });
}

/** RFC 6750: a challenge says `invalid_token` where a token was sent, and nothing more where none was. */
const CHALLENGES: Partial<Record<ProblemCode, string>> = {
  IDENTITY_TOKEN: 'Bearer error="invalid_token", error_description="the token is not valid"',
  IDENTITY_TOKEN_EXPIRED: 'Bearer error="invalid_token", error_description="the token has expired"',
};

function problemHeaders({ code, status, extras }: Problem): Record<string, string> {
  return {
    ...(status === 401 ? { 'www-authenticate': CHALLENGES[code] ?? 'Bearer' } : {}),
    ...(extras.retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(extras.retryAfter))) }),
    ...(extras.decisionId === undefined ? {} : { 'x-decision-id': extras.decisionId }),
  };
}
