import { type Issue, Problem } from '../errors.ts';
import { createId } from '../id.ts';
import { type JsonObject, ownValue } from '../operators/index.ts';
import type { Answer, Call } from '../request/index.ts';
import { checkValues, type Resource, type StoredRecord } from '../resource/index.ts';
import { sql } from '../sql/index.ts';
import { ConstraintError, insertRecord, type Transaction } from '../storage/index.ts';
import { hasAdmin } from './admins.ts';
import { countSetupAttempt } from './attempts.ts';
import { issuesOfGuessable } from './common-passwords.ts';
import { invalid, readSomeTexts } from './input.ts';
import type { AuthParts, ShownUser } from './parts.ts';
import { endSetupTokens, isSetupToken, makeSetupToken } from './setup-token.ts';

const USER = { email: { min: 3, max: 254 }, password: { min: 8, max: 200 }, name: { min: 1, max: 200 } } as const;
const BODY = { ...USER, token: { min: 1, max: 200, isOptional: true } } as const;

/** Makes a set-up token while there is no admin; undefined where there is one, or where set-up is off. */
export function openSetup({ database, settings }: Pick<AuthParts, 'database' | 'settings'>): Promise<string | undefined> {
  if (settings.setup === 'off') return Promise.resolve(undefined);
  return database.transaction(async (tx) => ((await hasAdmin(tx)) ? undefined : makeSetupToken(tx)));
}

/** `POST /auth/setup`: makes the first admin while there is none. Of many at once, one wins. */
export async function setUp(parts: AuthParts, call: Call): Promise<Answer> {
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
async function refuseSetup(tx: Transaction, { settings }: AuthParts, call: Call): Promise<Problem | undefined> {
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
function readUser({ body }: Call, definition: Resource): FirstUser {
  const { texts: all, issues } = readSomeTexts(body, BODY);
  const { token: _, ...texts } = all;
  const checked = checkValues(definition, { ...texts, role: 'admin', isActive: true }, { mode: 'create', isAdmin: true });
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
