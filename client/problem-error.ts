import type { Issue, Problem } from './generated/service-types.ts';

/** An error of the service (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** The HTTP status. */
  readonly status: number;
  /** The stable code of the error, such as `ACCESS_DENIED`; `HTTP_<status>` for a response that is not a problem of this service. */
  readonly code: string;
  /** All mistakes of the request. */
  readonly errors: readonly Issue[];
  /** The id of the audit entry of the decision. */
  readonly decisionId: string | undefined;
  /** The number of seconds to wait before the next request. */
  readonly retryAfter: number | undefined;
  /** The whole problem, if the response contained one. */
  readonly problem: Problem | undefined;

  constructor(response: Response, problem: Problem | undefined) {
    // Browsers hide the status of a redirect.
    super(problem?.detail ?? (response.status ? `${response.status} ${response.statusText}` : 'a redirect'));
    this.status = response.status;
    this.code = problem?.code ?? `HTTP_${response.status}`;
    this.errors = problem?.errors ?? [];
    this.decisionId = problem?.decisionId;
    const retryAfter = response.headers.get('retry-after') ?? '';
    this.retryAfter = Math.max(Number(retryAfter) || (Date.parse(retryAfter) - Date.now()) / 1000, 0) || undefined;
    this.problem = problem;
  }
}

/** Reads the problem of a refused request. A proxy may answer with another body. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const isProblem = response.headers.get('content-type')?.includes('problem+json');
  // Without the body, its status still tells that the request was refused.
  const body = await (isProblem ? response.json() : response.body?.cancel())?.catch(() => undefined);
  return new ProblemError(response, (body ?? undefined) as Problem | undefined);
}
