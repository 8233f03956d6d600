import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Issue, Problem, type ProblemCode } from '../errors.ts';
import { createId } from '../ids.ts';
import { isObject, type JsonObject, ownValue } from '../operators/index.ts';
import { type HttpRequest, refuseMistakes } from '../request/index.ts';
import { type Resource, type StoredRecord, validateValues } from '../resources/index.ts';
import { Input, Type, type TypeOf } from '../schemas/index.ts';
import { sql } from '../sql.ts';
import { ConstraintError, insertRecord, type Transaction } from '../storage/index.ts';
import { validateSchema } from '../validation/index.ts';
import type { AuthEndpointDeps, TokenUser } from './authentication-deps.ts';
import { hasAdmin } from './last-admin.ts';
import { countSetupAttempt } from './login-attempts.ts';
import { findGuessablePassword } from './passwords.ts';

/** Schema of the body of a setup. */
export const SETUP_BODY = Input({
  email: Type.String({ minLength: 3, maxLength: 254, description: 'An email address.' }),
  password: Type.String({ minLength: 8, maxLength: 200, description: 'The password.' }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'The setup token that the service prints when it starts. Calls on its own machine may omit it, unless `--setup token` says otherwise.',
    }),
  ),
});

/** A request to create the first admin. Its body is not validated yet. */
export type SetupRequest = Pick<HttpRequest, 'body' | 'origin' | 'isLocal'>;

/** Creates a setup token; undefined if an admin exists or setup is off. */
export function openSetup({ database, options }: Pick<AuthEndpointDeps, 'database' | 'options'>): Promise<string | undefined> {
  if (options.setup === 'off') return Promise.resolve(undefined);
  return database.transaction(async (tx) => ((await hasAdmin(tx)) ? undefined : createSetupToken(tx)));
}

/** The state of the setup, for a page that asks a person for the first admin. */
export interface SetupState {
  /** True if no admin exists and setup is not off. */
  readonly needed: boolean;
  /** True if this caller needs the setup token. */
  readonly tokenRequired: boolean;
}

/** Loads the state of the setup for a caller. */
export async function loadSetupState({ database, options }: AuthEndpointDeps, request: SetupRequest): Promise<SetupState> {
  const needed = options.setup !== 'off' && !(await database.transaction((tx) => hasAdmin(tx)));
  return { needed, tokenRequired: needed && !mayOmitToken(options, request) };
}

/** Creates the first admin if there is no admin. One of several concurrent requests succeeds. Refusals have audit entries; mistakes in the body have none. */
export async function setUp(deps: AuthEndpointDeps, request: SetupRequest): Promise<TokenUser> {
  try {
    return await createFirstAdmin(deps, request);
  } catch (error) {
    if (!(error instanceof Problem) || !SETUP_REFUSALS.has(error.code)) throw error;
    throw await deps.entries.recordRefusal({ action: 'setup', origin: request.origin, reason: error.detail }, error);
  }
}

const SETUP_REFUSALS: ReadonlySet<ProblemCode> = new Set(['IDENTITY_SETUP_DONE', 'IDENTITY_SETUP_TOKEN', 'IDENTITY_THROTTLED']);

async function createFirstAdmin(deps: AuthEndpointDeps, request: SetupRequest): Promise<TokenUser> {
  // Refused before validation and hashing: a caller without the token learns nothing about the body and costs no hashing.
  const refusal = await deps.database.transaction((tx) => refuseSetup(tx, deps, request));
  if (refusal !== undefined) throw refusal;
  const { given } = parseUser(request, deps.userDefinition());
  const password = await deps.passwords.hash(given.password);
  return deps.database.transaction(async (tx) => {
    // Without the lock, a concurrent setup could commit between the following statements.
    await tx.lock('setup');
    if (await hasAdmin(tx)) throw setupDone();
    const id = createId();
    await claimSetup(tx, id);
    // Parsed again, because another process may have changed the definition.
    const definition = deps.userDefinition();
    const record = toRecord({ ...parseUser(request, definition).values, password }, id, tx.now);
    await insertUser(tx, definition, record);
    await deleteSetupTokens(tx);
    const admin: TokenUser & { name: string } = { id, email: String(record['email']), name: given.name, role: 'admin' };
    await deps.onFirstAdmin(tx, admin, request.origin);
    await deps.entries.append(tx, {
      action: 'setup',
      origin: request.origin,
      reason: 'created the first admin',
      userId: id,
      role: admin.role,
      email: admin.email,
    });
    return admin;
  });
}

/** Returns the problem to refuse the request with; undefined to accept it. A throw would roll back the count of wrong tokens. */
async function refuseSetup(tx: Transaction, { options }: AuthEndpointDeps, request: SetupRequest): Promise<Problem | undefined> {
  if (await hasAdmin(tx)) return setupDone();
  if (mayOmitToken(options, request)) return undefined;
  const token = ownValue(request.body, 'token');
  if (typeof token !== 'string') return new Problem('IDENTITY_SETUP_TOKEN', 'this request requires the setup token');
  // Checked before the attempts are counted, because other clients of the same address could lock out the operator.
  if (await isValidSetupToken(tx, token)) return undefined;
  const wait = await countSetupAttempt(tx, request.origin.ip, options);
  if (wait !== undefined) return new Problem('IDENTITY_THROTTLED', 'too many attempts with a wrong setup token', { retryAfter: wait });
  return new Problem('IDENTITY_SETUP_TOKEN', 'the setup token is wrong');
}

function mayOmitToken({ setup }: AuthEndpointDeps['options'], { isLocal }: SetupRequest): boolean {
  return setup === 'loopback' && isLocal?.() === true;
}

interface FirstUser {
  readonly given: TypeOf<typeof SETUP_BODY>;
  readonly values: JsonObject;
}

/** Parses the body. Fields that the project adds to User get their defaults; `parseUserDefinition` refuses required fields without a default. */
function parseUser({ body = {} }: SetupRequest, definition: Resource): FirstUser {
  const issues = [...validateSchema(SETUP_BODY, body)];
  const { email, password, name } = isObject(body) ? body : {};
  const texts = { ...(email !== undefined && { email }), ...(password !== undefined && { password }), ...(name !== undefined && { name }) };
  const checked = validateValues(definition, { ...texts, role: 'admin', isActive: true }, { mode: 'create', isAdmin: true });
  const known = new Set(issues.map(({ path }) => path));
  for (const issue of [...checked.issues, ...findGuessablePassword(texts)]) {
    if (Object.hasOwn(texts, issue.path) && !known.has(issue.path)) issues.push(issue);
  }
  refuseMistakes('VALUE_INVALID', issues);
  return { given: body as TypeOf<typeof SETUP_BODY>, values: checked.values };
}

/**
 * Inserts the row that marks setup as done; its primary key lets one of several concurrent transactions succeed. If a row is left over
 * from an admin who no longer exists, it is updated instead, once.
 */
async function claimSetup(tx: Transaction, userId: string): Promise<void> {
  const marker = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = 'setup'`);
  const claim =
    marker === undefined
      ? sql`insert into "_State" ("id", "text") values ('setup', ${userId})`
      : sql`update "_State" set "text" = ${userId} where "id" = 'setup' and "text" = ${marker.text}`;
  try {
    if ((await tx.run(claim)).changes === 0) throw setupDone();
  } catch (error) {
    throw error instanceof ConstraintError ? setupDone() : error;
  }
}

async function insertUser(tx: Transaction, definition: Resource, record: StoredRecord): Promise<void> {
  try {
    await insertRecord(tx, definition, record);
  } catch (error) {
    if (!(error instanceof ConstraintError) || error.constraint !== 'unique') throw error;
    const errors: Issue[] = [{ path: 'email', code: 'taken', detail: 'another user has this email' }];
    throw new Problem('RECORD_EXISTS', 'another user has this email', { errors, cause: error });
  }
}

function toRecord(values: JsonObject, id: string, now: number): StoredRecord {
  const at = new Date(now).toISOString();
  return { ...values, id, version: 1, createdAt: at, updatedAt: at, createdBy: id };
}

function setupDone(): Problem {
  return new Problem('IDENTITY_SETUP_DONE', 'an admin exists already');
}

/** Row of `_State`: hashes of the valid setup tokens, the newest first. */
const ROW = 'setupTokens';

/** Maximum number of valid setup tokens. Older ones become invalid, so that repeated starts do not fill the row. */
const MAX_TOKENS = 10;

/**
 * Creates and returns a setup token; only its hash is stored. Each start prints its own token. Tokens of other replicas and earlier
 * starts stay valid until setup is done.
 */
async function createSetupToken(tx: Transaction): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  await tx.lock('setup');
  const text = [toHash(token), ...(await loadHashes(tx))].slice(0, MAX_TOKENS).join(' ');
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${ROW}, ${text}) on conflict ("id") do update set "text" = excluded."text"`);
  return token;
}

/** Returns true if a setup token is valid. Takes the same time for every token. */
async function isValidSetupToken(tx: Transaction, token: string): Promise<boolean> {
  const given = Buffer.from(toHash(token));
  const equal = (await loadHashes(tx)).map((hash) => timingSafeEqual(Buffer.from(hash), given));
  return equal.includes(true);
}

/** Deletes every setup token, because setup is done or a backup was restored. */
export async function deleteSetupTokens(tx: Transaction): Promise<void> {
  await tx.run(sql`delete from "_State" where "id" = ${ROW}`);
}

async function loadHashes(tx: Transaction): Promise<readonly string[]> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = ${ROW}`);
  return row?.text.split(' ') ?? [];
}

/** Hashes a setup token. A fast hash is enough, because a token has 192 random bits and cannot be guessed. */
function toHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
