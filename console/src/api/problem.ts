import { commonTexts } from '../texts/common.ts';

/** A member of a problem that names a mistake: its path in the request, a code and a sentence. */
export interface Issue {
  readonly path: string;
  readonly code: string;
  readonly detail: string;
  /** The part of an expression that the mistake is about, in UTF-16 code units. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** The body of a refused request, as in RFC 9457. */
export interface ProblemBody {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly decisionId?: string;
  readonly currentVersion?: number;
  readonly errors?: readonly Issue[];
  readonly [member: string]: unknown;
}

/** A refused or failed request. `problem.code` is `NETWORK` if the service did not answer, and `OFFLINE` if the browser had no network before it was sent. */
export class RequestError extends Error {
  readonly problem: ProblemBody;
  /** Seconds after which the service accepts the request again. */
  readonly retryAfter: number | undefined;

  constructor(problem: ProblemBody, retryAfter?: number) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/** Reads the problem of a response that is not a success. */
export async function readProblem(response: Response): Promise<RequestError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const { status } = response;
  const requestId = response.headers.get('x-request-id');
  const body: unknown = await response.json().catch(() => undefined);
  const problem = isProblem(body) ? body : { title: response.statusText || commonTexts.network.failed(status), ...FOREIGN, status };
  return new RequestError({ ...problem, ...(requestId !== null && { requestId }) }, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

/** The members of the problem of an answer that is not from the service. */
const FOREIGN = { detail: commonTexts.network.foreign, code: 'UNKNOWN' };

/** Returns true for the body of a problem of the service: all of them have a title, a status and a code. */
function isProblem(body: unknown): body is ProblemBody {
  const { title, status, code } = Object(body) as Readonly<Record<string, unknown>>;
  return typeof title === 'string' && typeof status === 'number' && typeof code === 'string';
}

/** Returns the error of a request that got no response. If the browser had a network when it was sent, the service may have performed it. */
export function toNetworkError(cause: unknown, wasOnline: boolean): RequestError {
  const { offline, unanswered } = commonTexts.network;
  if (!wasOnline) return new RequestError({ ...offline, status: 0, code: 'OFFLINE' });
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new RequestError({ title: unanswered, status: 0, code: 'NETWORK', detail });
}

/** Returns the body of a success. @throws RequestError if it breaks off */
export async function readBody(response: Response, signal?: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw toNetworkError(error, true);
  }
}

/** Returns true if the answer of the service to a request is not known: it was lost, or something before the service gave up waiting. */
export function isLost(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  const { code, status } = error.problem;
  return code === 'NETWORK' || status === 502 || status === 504;
}

/** Returns true if a request was refused with this code. */
export function hasCode(error: unknown, code: string): error is RequestError {
  return error instanceof RequestError && error.problem.code === code;
}

/** Returns true if policies have denied a request. Until they change, the same request is denied again. */
export function isDenial(code: string | undefined): boolean {
  return code === 'ACCESS_DENIED' || code === 'ACCESS_PROTECTED';
}
