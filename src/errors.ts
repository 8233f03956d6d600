/**
 * Everything that can go wrong for a caller, in one table: code → HTTP status, title and, where there is
 * something to do about it, a hint. `docs/reference/errors.md` is generated from it.
 */

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly hint?: string;
}

const kinds = {
  REQUEST_MALFORMED: { status: 400, title: 'Malformed request' },
  REQUEST_PARAMETER: { status: 400, title: 'Unusable query parameter' },
  REQUEST_FIELD: { status: 400, title: 'Field not available', hint: 'GET /api/<resource>/schema names the fields of a resource' },
  REQUEST_CURSOR: { status: 400, title: 'Unusable cursor', hint: 'use nextCursor of the page before, with the same filter, sort and user' },
  REQUEST_ORIGIN: {
    status: 403,
    title: 'Origin not allowed',
    hint: 'to allow pages of this origin, add it to --cors-origins or BAILIWICK_CORS_ORIGINS',
  },
  REQUEST_NO_ROUTE: { status: 404, title: 'No such address', hint: 'GET /openapi.json lists every address' },
  REQUEST_METHOD: { status: 405, title: 'Method not allowed here' },
  REQUEST_TIMEOUT: { status: 408, title: 'Request took too long to arrive' },
  REQUEST_TOO_LARGE: { status: 413, title: 'Request too large' },
  REQUEST_MEDIA_TYPE: { status: 415, title: 'Unsupported media type', hint: 'send application/json' },
  REQUEST_HOST: {
    status: 421,
    title: 'Host not allowed',
    hint: 'to serve this host name, add it to --allowed-hosts; behind a proxy, set --trust-proxy to the address of the proxy',
  },
  REQUEST_RATE: { status: 429, title: 'Too many requests', hint: 'wait for the seconds that Retry-After says' },
  IDENTITY_REQUIRED: { status: 401, title: 'Token required', hint: 'POST /auth/login gives one' },
  IDENTITY_TOKEN: { status: 401, title: 'Invalid token', hint: 'POST /auth/login gives a new one' },
  IDENTITY_TOKEN_EXPIRED: { status: 401, title: 'Expired token', hint: 'POST /auth/refresh gives a new one' },
  IDENTITY_CREDENTIALS: { status: 401, title: 'Wrong email or password' },
  IDENTITY_CURRENT_PASSWORD: {
    status: 403,
    title: 'Wrong current password',
    hint: 'send the present password as currentPassword',
  },
  IDENTITY_THROTTLED: { status: 429, title: 'Too many attempts', hint: 'wait for the seconds that Retry-After says' },
  IDENTITY_SETUP_DONE: { status: 409, title: 'Setup is done', hint: 'an admin exists; log in with POST /auth/login' },
  IDENTITY_SETUP_TOKEN: {
    status: 403,
    title: 'Set-up token required',
    hint: 'the service prints the token at start while no admin exists; send it as "token" in the body',
  },
  IDENTITY_LAST_ADMIN: { status: 409, title: 'Last active admin', hint: 'make another user an active admin first' },
  ACCESS_DENIED: { status: 403, title: 'Denied' },
  ACCESS_ADMIN: { status: 403, title: 'Admins only' },
  ACCESS_PROTECTED: { status: 403, title: 'Admins are changed by admins or by themselves', hint: 'ask an admin; no policy can allow this' },
  VALUE_INVALID: { status: 422, title: 'Invalid values' },
  RESOURCE_UNKNOWN: { status: 404, title: 'No such resource' },
  RESOURCE_NO_BIN: {
    status: 400,
    title: 'Deleted records are not kept',
    hint: 'softDelete: true in its definition keeps them from then on',
  },
  RECORD_UNKNOWN: { status: 404, title: 'No such record' },
  RECORD_EXISTS: { status: 409, title: 'Value already taken' },
  RECORD_REFERENCED: { status: 409, title: 'Record is referred to' },
  RECORD_AMBIGUOUS: { status: 409, title: 'Filter matches several records' },
  RECORD_VERSION: { status: 412, title: 'Changed since it was read', hint: 'read it again and repeat the change with its new ETag' },
  RECORD_VERSION_REQUIRED: { status: 428, title: 'If-Match required', hint: 'read it first and send its ETag as If-Match' },
  RECORD_UNMATCHED: {
    status: 409,
    title: 'Filter matches no record',
    hint: 'an atomic batch fails where nothing matches; with "optional": true the request may match nothing',
  },
  BATCH_DEPENDENCY: { status: 424, title: 'Request refers to one that gave no record' },
  BATCH_ABORTED: {
    status: 409,
    title: 'Undone with its batch',
    hint: 'stands in entries alone: the batch answers with the problem of the request that failed',
  },
  IMPORT_UNDONE: {
    status: 409,
    title: 'Undone with its import',
    hint: 'stands in entries alone: of a dry run, and of rows before the one for which an import of all or nothing was undone',
  },
  POLICY_INVALID: { status: 422, title: 'Invalid policy' },
  POLICY_UNKNOWN: { status: 404, title: 'No such policy' },
  POLICY_EXISTS: { status: 409, title: 'Policy name already taken' },
  ASSIGNMENT_EXISTS: { status: 409, title: 'Already assigned' },
  ASSIGNMENT_UNKNOWN: { status: 404, title: 'No such assignment' },
  USER_UNKNOWN: { status: 404, title: 'No such user' },
  DECISION_UNKNOWN: { status: 404, title: 'No such decision' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'Cannot be recorded', hint: 'nothing was changed; try again' },
  STORAGE_BUSY: { status: 503, title: 'Too busy', hint: 'nothing was changed; try again' },
  INTERNAL: { status: 500, title: 'Internal error', hint: 'the log has the cause under this requestId' },
} as const;

/** The code of a problem: what went wrong, in one word that programs can rely on. */
export type ProblemCode = keyof typeof kinds;

/** Every problem by its code. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = kinds;

/** One of several mistakes: where (a dotted path into what was sent), what kind, and in words. */
export interface Issue {
  readonly path: string;
  /** The line of a file, from 1. */
  readonly row?: number;
  readonly code: string;
  readonly detail: string;
}

interface ProblemExtras {
  readonly errors?: readonly Issue[];
  readonly hint?: string;
  /** For the log, never for the caller. */
  readonly cause?: unknown;
  /** What was done all the same, as a member `data` of the answer. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Seconds, for Retry-After. */
  readonly retryAfter?: number;
  /** The entry under which a denial is on the record. */
  readonly decisionId?: string;
}

/** What went wrong, for the caller. Thrown anywhere below `http/`, answered there as application/problem+json. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly detail: string;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.detail = detail;
    this.extras = extras;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

/** A mistake in how the program was set up, before it serves anyone: printed as one sentence, exit code 2. */
export class SetupError extends Error {
  override name = 'SetupError';
  /** Every mistake, each with file and line where it has one. */
  readonly mistakes: readonly string[];
  constructor(message: string, mistakes: readonly string[] = []) {
    super(message);
    this.mistakes = mistakes;
  }
}

/** The known name nearest to a mistyped one, as ` (did you mean "…"?)`; empty where none is near. */
export function didYouMean(given: string, known: Iterable<string>): string {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase().slice(0, 64), name.toLowerCase().slice(0, 64));
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best === undefined ? '' : ` (did you mean "${best}"?)`;
}

/** Insertions, deletions, replacements and swaps of neighbours that make one text of the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1, isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY));
    }
  }
  return at(a.length, b.length);
}
