import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Issue, Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import { type JsonObject, ownValue } from '../operators/index.ts';
import type { HttpRequest, HttpResponse } from '../request/index.ts';
import { type Resource, type StoredRecord, validateValues } from '../resources/index.ts';
import { sql } from '../sql.ts';
import { ConstraintError, insertRecord, type Transaction } from '../storage/index.ts';
import type { AuthenticationDeps, ShownUser } from './authentication-deps.ts';
import { invalid, parseSomeTexts } from './credentials.ts';
import { hasAdmin } from './last-admin.ts';
import { countSetupAttempt } from './login-attempts.ts';
import { issuesOfGuessable } from './passwords.ts';

const USER = { email: { min: 3, max: 254 }, password: { min: 8, max: 200 }, name: { min: 1, max: 200 } } as const;
const BODY = { ...USER, token: { min: 1, max: 200, isOptional: true } } as const;

/** Makes a set-up token while there is no admin; undefined where there is one, or where set-up is off. */
export function openSetup({ database, settings }: Pick<AuthenticationDeps, 'database' | 'settings'>): Promise<string | undefined> {
  if (settings.setup === 'off') return Promise.resolve(undefined);
  return database.transaction(async (tx) => ((await hasAdmin(tx)) ? undefined : makeSetupToken(tx)));
}

/** `POST /auth/setup`: makes the first admin while there is none. Of many at once, one wins. */
export async function setUp(parts: AuthenticationDeps, call: HttpRequest): Promise<HttpResponse> {
  // Checked before validation and hashing: a caller who may not set up learns nothing more and costs no hashing.
  const refusal = await parts.database.transaction((tx) => refuseSetup(tx, parts, call));
  if (refusal !== undefined) throw refusal;
  const { given } = readUser(call, parts.userDefinition());
  const password = await parts.passwords.hash(given.password);
  const user = await parts.database.transaction(async (tx) => {
    // Of what is asked one by one, the first answer may be from before another's setup, and the second from behind it.
    await tx.lock('setup');
    if (await hasAdmin(tx)) throw setupDone();
    const id = createId();
    await claimSetup(tx, id);
    // Read again: another process may have changed the definition since.
    const definition = parts.userDefinition();
    const record = toRecord({ ...readUser(call, definition).values, password }, id, tx.now);
    await insertUser(tx, definition, record);
    await endSetupTokens(tx);
    const shown: ShownUser & { name: string } = { id, email: String(record['email']), name: given.name, role: 'admin' };
    await parts.onFirstAdmin(tx, shown, call.origin);
    return shown;
  });
  return { status: 201, body: { success: true, message: 'the first admin was created; log in with POST /auth/login', user } };
}

/** Returns why the call may not set up: a throw would undo the count of wrong tokens. */
async function refuseSetup(tx: Transaction, { settings }: AuthenticationDeps, call: HttpRequest): Promise<Problem | undefined> {
  if (await hasAdmin(tx)) return setupDone();
  if (settings.setup === 'loopback' && call.isLocal?.() === true) return undefined;
  const token = ownValue(call.body, 'token');
  if (typeof token !== 'string') return new Problem('IDENTITY_SETUP_TOKEN', 'this call needs the set-up token');
  // Before the count: no number of attempts finds the token, and others behind the same address could lock out the operator.
  if (await isSetupToken(tx, token)) return undefined;
  const wait = await countSetupAttempt(tx, call.origin.ip, settings);
  if (wait !== undefined) return new Problem('IDENTITY_THROTTLED', 'too many attempts to set up', { retryAfter: wait });
  return new Problem('IDENTITY_SETUP_TOKEN', 'the set-up token is wrong');
}

interface FirstUser {
  readonly given: Readonly<Record<keyof typeof USER, string>>;
  readonly values: JsonObject;
}

/** Fields that a project adds to User take their defaults: a definition without them is refused. */
function readUser({ body }: HttpRequest, definition: Resource): FirstUser {
  const { texts: all, issues } = parseSomeTexts(body, BODY);
  const { token: _, ...texts } = all;
  const checked = validateValues(definition, { ...texts, role: 'admin', isActive: true }, { mode: 'create', isAdmin: true });
  const further = [...checked.issues.filter(({ path }) => Object.hasOwn(texts, path)), ...issuesOfGuessable(texts)];
  if (issues.length + further.length > 0) throw invalid([...issues, ...further]);
  return { given: texts as FirstUser['given'], values: checked.values };
}

/**
 * The one row of setup is what databases let only one of many make. Left over by an admin who is none any more
 * (the caller has seen that there is none), it changes hands once.
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

/** Row of `_State`: hashes of the valid set-up tokens, the newest first. */
const ROW = 'setupTokens';

/** Maximum number of valid set-up tokens, those of the newest starts, so that repeated starts do not fill the row. */
const MOST = 10;

/**
 * Creates and returns a set-up token; only its hash is stored. Each start prints its own token. Tokens of other replicas and earlier
 * starts stay valid until set-up is done.
 */
export async function makeSetupToken(tx: Transaction): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  await tx.lock('setup');
  const text = [toHash(token), ...(await loadHashes(tx))].slice(0, MOST).join(' ');
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${ROW}, ${text}) on conflict ("id") do update set "text" = excluded."text"`);
  return token;
}

/** Returns whether a set-up token is valid. Takes the same time for every token. */
export async function isSetupToken(tx: Transaction, token: string): Promise<boolean> {
  const given = Buffer.from(toHash(token));
  const equal = (await loadHashes(tx)).map((hash) => timingSafeEqual(Buffer.from(hash), given));
  return equal.includes(true);
}

/** Ends every set-up token: set-up is done, or the database is another. */
export async function endSetupTokens(tx: Transaction): Promise<void> {
  await tx.run(sql`delete from "_State" where "id" = ${ROW}`);
}

async function loadHashes(tx: Transaction): Promise<readonly string[]> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = ${ROW}`);
  return row?.text.split(' ') ?? [];
}

/** Hashes with a fast function: a token has 192 random bits and cannot be guessed. */
function toHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
