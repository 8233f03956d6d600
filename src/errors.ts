/** Every error code with its HTTP status, title and hint. `docs/reference/errors.md` is generated from this table. */

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly hint?: string;
  /** Seconds for the Retry-After header, if the problem has no others. */
  readonly retryAfter?: number;
}

const kinds = {
  REQUEST_MALFORMED: { status: 400, title: 'Malformed request' },
  REQUEST_PARAMETER: { status: 400, title: 'Invalid query parameter' },
  REQUEST_FIELD: { status: 400, title: 'Field not available', hint: 'GET /api/<resource>/schema lists the fields of a resource' },
  REQUEST_CURSOR: {
    status: 400,
    title: 'Invalid cursor',
    hint: 'use nextCursor of the previous page, with the same filter, sort and user',
  },
  REQUEST_ORIGIN: {
    status: 403,
    title: 'Origin not allowed',
    hint: 'to allow pages of this origin, add it to --cors-origins or BAILIWICK_CORS_ORIGINS',
  },
  REQUEST_BUDGET: {
    status: 400,
    title: 'Request budget exceeded',
    hint: 'filter and sort by indexed fields, or ask for less in one request',
  },
  REQUEST_NO_ROUTE: { status: 404, title: 'Route not found', hint: 'GET /openapi.json lists every route' },
  REQUEST_METHOD: { status: 405, title: 'Method not allowed' },
  REQUEST_TIMEOUT: { status: 408, title: 'Request timeout' },
  REQUEST_TOO_LARGE: { status: 413, title: 'Request too large' },
  REQUEST_MEDIA_TYPE: {
    status: 415,
    title: 'Unsupported media type',
    hint: 'send application/json; imports also accept application/x-ndjson and text/csv',
  },
  REQUEST_EXPECTATION: { status: 417, title: 'Expectation not supported', hint: 'send no Expect header, or Expect: 100-continue' },
  REQUEST_HOST: {
    status: 421,
    title: 'Host not allowed',
    hint: 'to serve this host name, add it to --allowed-hosts; behind a proxy, set --trust-proxy to the address of the proxy',
  },
  REQUEST_RATE: { status: 429, title: 'Too many requests', hint: 'wait for the number of seconds in Retry-After' },
  IDENTITY_REQUIRED: { status: 401, title: 'Token required', hint: 'POST /auth/login returns one' },
  IDENTITY_TOKEN: { status: 401, title: 'Invalid token', hint: 'POST /auth/login returns a new one' },
  IDENTITY_TOKEN_EXPIRED: { status: 401, title: 'Expired token', hint: 'POST /auth/refresh returns a new one' },
  IDENTITY_ISSUER: { status: 403, title: 'Managed by another issuer', hint: 'use the issuer of the token' },
  IDENTITY_CREDENTIALS: { status: 401, title: 'Wrong email or password' },
  IDENTITY_ORIGIN: {
    status: 403,
    title: 'Not sent by a page of this service',
    hint: 'browsers send Sec-Fetch-Site: same-origin or the Origin of the service; programs log in with POST /auth/login',
  },
  IDENTITY_CURRENT_PASSWORD: {
    status: 403,
    title: 'Wrong current password',
    hint: 'send the current password as currentPassword',
  },
  IDENTITY_THROTTLED: { status: 429, title: 'Too many attempts', hint: 'wait for the number of seconds in Retry-After' },
  IDENTITY_SETUP_DONE: { status: 409, title: 'Setup is complete', hint: 'an admin exists; log in with POST /auth/login' },
  IDENTITY_SETUP_TOKEN: {
    status: 403,
    title: 'Setup token required',
    hint: 'the service prints the token at start while no admin exists; send it as "token" in the body',
  },
  IDENTITY_LAST_ADMIN: { status: 409, title: 'Last active admin', hint: 'make another user an active admin with a password first' },
  ACCESS_DENIED: { status: 403, title: 'Denied' },
  ACCESS_ADMIN: { status: 403, title: 'Admins only' },
  ACCESS_PROTECTED: { status: 403, title: 'Only admins can change admins', hint: 'ask an admin; no policy can allow this' },
  VALUE_INVALID: { status: 422, title: 'Invalid values' },
  RESOURCE_UNKNOWN: { status: 404, title: 'Resource not found' },
  SOFT_DELETE_DISABLED: {
    status: 400,
    title: 'No soft delete',
    hint: 'with softDelete: true in the definition, records that are deleted from then on are kept',
  },
  RECORD_UNKNOWN: { status: 404, title: 'Record not found' },
  RECORD_EXISTS: { status: 409, title: 'Value already taken' },
  RECORD_REFERENCED: { status: 409, title: 'Record is referenced' },
  RECORD_AMBIGUOUS: { status: 409, title: 'Filter matches several records' },
  RECORD_VERSION: { status: 412, title: 'Record was changed', hint: 'read it again and repeat the change with its new ETag' },
  RECORD_VERSION_REQUIRED: { status: 428, title: 'If-Match required', hint: 'read the record first and send its ETag as If-Match' },
  RECORD_UNMATCHED: {
    status: 409,
    title: 'Filter matches no record',
    hint: 'an atomic batch fails if a request matches no record, unless the request has "optional": true',
  },
  BATCH_DEPENDENCY: { status: 424, title: 'Referenced request returned no record' },
  BATCH_SESSION_ENDED: {
    status: 409,
    title: 'Follows the end of its session',
    hint: 'put the request that ends your session, such as a new password, last',
  },
  BATCH_ABORTED: {
    status: 409,
    title: 'Rolled back with its batch',
    hint: 'occurs only in audit entries; the response of the batch has the error of the request that failed',
  },
  IMPORT_UNDONE: {
    status: 409,
    title: 'Rolled back with its import',
    hint: 'occurs only in audit entries: of a dry run, and of the rows before the one that made an atomic import fail',
  },
  DRY_RUN: { status: 409, title: 'Dry run', hint: 'occurs only in audit entries: the decision was part of a dry run, nothing was changed' },
  POLICY_INVALID: { status: 422, title: 'Invalid policy' },
  POLICY_UNKNOWN: { status: 404, title: 'Policy not found' },
  REVISION_UNKNOWN: {
    status: 404,
    title: 'Revision not found',
    hint: 'GET /admin/api/policies/<id>/history lists the revisions of a policy',
  },
  POLICY_MANAGED: {
    status: 409,
    title: 'Managed by files',
    hint: 'change the policy file and run "bailiwick policies apply"; "policies apply --release" returns policies without a file to the API',
  },
  POLICY_EXISTS: { status: 409, title: 'Policy name already taken' },
  ASSIGNMENT_EXISTS: { status: 409, title: 'Already assigned' },
  ASSIGNMENT_UNKNOWN: { status: 404, title: 'Assignment not found' },
  USER_UNKNOWN: { status: 404, title: 'User not found' },
  SESSION_UNKNOWN: { status: 404, title: 'Session not found', hint: 'the session may have ended' },
  VIEW_UNKNOWN: { status: 404, title: 'Saved view not found', hint: 'GET /auth/me/views lists the saved views' },
  DECISION_UNKNOWN: { status: 404, title: 'Audit entry not found' },
  DECISION_NOT_REPLAYED: {
    status: 409,
    title: 'Audit entry cannot be replayed',
    hint: 'only entries of kind "access" are decisions on requests; GET /admin/api/decisions?kind=access lists them',
  },
  STORAGE_UNAVAILABLE: { status: 503, title: 'Database unavailable', hint: 'nothing was changed; try again' },
  STORAGE_BUSY: { status: 503, title: 'Too busy', hint: 'nothing was changed; try again', retryAfter: 1 },
  STORAGE_DAMAGED: {
    status: 500,
    title: 'Stored data damaged',
    hint: 'a row does not have the content that was written; "bailiwick verify" lists the damaged rows',
  },
  INTERNAL: { status: 500, title: 'Internal error', hint: 'the log contains the cause, with this requestId' },
} as const;

/** A stable error code. */
export type ProblemCode = keyof typeof kinds;

/** The table of error codes. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = kinds;

/** Every code of a mistake in a request, with its meaning. The same mistake has the same code at every endpoint. */
const issueKinds = {
  unknown: 'The name is not known here.',
  required: 'A value is needed and none was given.',
  type: 'The value has the wrong JSON type or form.',
  range: 'The value is below its minimum or above its maximum.',
  tooShort: 'The text has too few characters, or only blanks.',
  tooLong: 'The text has too many characters.',
  tooFew: 'The list or object has too few items.',
  tooMany: 'The list or object has too many items.',
  tooDeep: 'The value is nested too deeply.',
  enum: 'The value is not one of the permitted values.',
  pattern: 'The text does not match the pattern of its field.',
  format: 'The text does not have the format of its type, for example of a timestamp, an email or an IP address.',
  characters: 'The text contains control characters or unpaired surrogates.',
  duplicate: 'The name or value was given twice.',
  conflict: 'Two members that exclude each other were given.',
  readOnly: 'The service sets the value.',
  immutable: 'The value is set on create and never changed.',
  guarded: 'Only an admin may set the value.',
  increment: 'The value cannot be incremented.',
  reference: 'No record has this id.',
  cycle: 'The record would be its own ancestor.',
  taken: 'Another record has this unique value.',
  field: 'The field does not exist, or the caller cannot use it here.',
  operator: 'The operator does not exist, or does not fit the field.',
  value: 'The value does not fit the operator.',
  context: 'The group of a path does not exist here.',
  expression: 'The expression cannot be compiled.',
  common: 'The password is one of the most common ones.',
  guessable: 'The password is the name or the email of the user.',
} as const;

/** The code of one mistake. */
export type IssueCode = keyof typeof issueKinds;

/** The table of issue codes. */
export const ISSUES: Readonly<Record<IssueCode, string>> = issueKinds;

/** Maximum number of mistakes in a response. Without a limit, a large body could cause a large response. */
export const MAX_ISSUES = 100;

/** A part of a text: the indices of its first UTF-16 code unit and of the one behind it. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** One of several mistakes in a request: its path in the body or query, its code, and a sentence. */
export interface Issue {
  readonly path: string;
  /** The line of a file, from 1. */
  readonly row?: number;
  /** For a request of a batch, the code of its problem. */
  readonly code: IssueCode | ProblemCode;
  readonly detail: string;
  /** The part of an expression that the mistake is about. */
  readonly range?: TextRange;
}

interface ProblemExtras {
  readonly errors?: readonly Issue[];
  readonly hint?: string;
  /** True if the outcome of the commit is unknown, so that the changes may have been stored. Never sent to the caller. */
  readonly mayBeStored?: true;
  /** Logged, never sent to the caller. */
  readonly cause?: unknown;
  /** The part of the work that was done, sent as the member `data` of the response. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The stored version, if If-Match names another one. */
  readonly currentVersion?: number | undefined;
  /** Seconds for the Retry-After header; those of the code if absent. */
  readonly retryAfter?: number;
  /** Id of the audit entry of a denial, or of a refused login or token. */
  readonly decisionId?: string;
  /** The user of a refused token, for its audit entry; never sent to the caller. */
  readonly userId?: string;
}

/** An error for the caller. It can be thrown anywhere; `http/` responds with application/problem+json. */
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

const TOKEN_CODES: ReadonlySet<ProblemCode> = new Set(['IDENTITY_TOKEN', 'IDENTITY_TOKEN_EXPIRED']);

/** Returns true for the problem of a refused token that has no audit entry yet. */
export function isRefusedToken(error: unknown): error is Problem {
  return error instanceof Problem && TOKEN_CODES.has(error.code) && error.extras.decisionId === undefined;
}

/** An invalid configuration or command line. The CLI prints it and exits with code 2. */
export class SetupError extends Error {
  override name = 'SetupError';
  /** Every mistake, with file and line if it is in a file. */
  readonly mistakes: readonly string[];
  constructor(message: string, mistakes: readonly string[] = []) {
    super(message);
    this.mistakes = mistakes;
  }
}

/** Maximum number of characters of a name with a suggestion. It limits the time of a comparison, which is quadratic in the length. */
const MAX_COMPARED = 64;

/** Returns the known name that is most similar to a mistyped one, as ` (did you mean "…"?)`, or an empty text if none is similar. */
export function didYouMean(given: string, known: Iterable<string>): string {
  if (given.length > MAX_COMPARED) return '';
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of known) {
    // The distance of two names is at least the difference of their lengths.
    if (Math.abs(name.length - given.length) >= bestDistance) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best === undefined ? '' : ` (did you mean "${best}"?)`;
}

/** Returns the Damerau-Levenshtein distance: the number of insertions, deletions, replacements and swaps of neighbours. */
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
