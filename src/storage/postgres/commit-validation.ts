import { type Sql, sql } from '../../sql.ts';
import type { Query, Statement } from '../contract.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import { isListKey } from '../related/relation-set.ts';
import { writeMarkId } from '../write-marks.ts';
import { type DeferredWrite, MAY_SUCCEED } from './deferred-writes.ts';
import { STALE, serverDetail } from './driver-error.ts';

/** The function that validates read sets at commit. Its parameters and its behaviour belong to the name: a change of either needs a new name. */
export const COMMIT_VALIDATION_FUNCTION = 'bailiwick_guard_1';

/**
 * Returns the SQL that creates the function. It takes its locks first, in one order for all transactions; each statement after that
 * sees the rows committed by then.
 *
 * - A key of the read set is locked `shared`, a key of the write set `exclusive`, both until the commit is visible. So a writer waits for
 *   the transactions that still rely on the old state, and a later reader sees the change.
 * - These locks are the last ones of a transaction: their holder waits for nothing but its own commit, so there is no deadlock.
 *
 * The function has few statements because the fixed cost of a statement exceeds the cost of its lookup.
 */
export function commitValidationSql(): string {
  return `CREATE OR REPLACE FUNCTION ${COMMIT_VALIDATION_FUNCTION}(
    places integer[], exclusive boolean[], stamps text[], user_ids text[], versions bigint[], session_ids text[], valid_until bigint
  ) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $guard$
DECLARE
  space CONSTANT integer := hashtext(coalesce(current_schema(), '') || ' bailiwick guard');
  held boolean;
  stamp text;
  moved text[];
  ended text[];
  at bigint;
BEGIN
  FOR i IN 1 .. cardinality(places) LOOP
    IF exclusive[i] THEN held := pg_advisory_xact_lock(space, places[i]) IS NOT NULL;
    ELSE held := pg_advisory_xact_lock_shared(space, places[i]) IS NOT NULL;
    END IF;
  END LOOP;
  SELECT
    (SELECT "_State"."text" FROM "_State" WHERE "_State"."id" = 'epoch'),
    (SELECT array_agg(expected.id) FROM unnest(user_ids, versions) AS expected(id, version)
      LEFT JOIN "User" ON "User"."id" = expected.id WHERE coalesce("User"."version", 0) <> expected.version),
    (SELECT array_agg(expected.id) FROM unnest(session_ids) AS expected(id)
      LEFT JOIN "_Session" ON "_Session"."id" = expected.id WHERE "_Session"."id" IS NULL OR "_Session"."revokedAt" IS NOT NULL)
  INTO stamp, moved, ended;
  stamp := coalesce(stamp, '');
  at := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF NOT stamp = ALL (stamps) OR moved IS NOT NULL OR ended IS NOT NULL OR at >= valid_until THEN
    RAISE EXCEPTION 'the read set is stale' USING ERRCODE = '${STALE}',
      DETAIL = json_build_object('epoch', stamp, 'at', at, 'users', moved, 'sessions', ended);
  END IF;
  RETURN at;
END $guard$`;
}

const CALL = `SELECT ${COMMIT_VALIDATION_FUNCTION}($1::integer[], $2::boolean[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint) AS "now"`;

/** Returns the statement that validates one unit of work, or several that commit together. Its result is the server's time, as `now`. */
export function toCommitValidation(all: readonly ReadWriteSet[]): Statement {
  const users = new Map(all.flatMap((sets) => [...sets.users].map(([id, version]) => [`${version} ${id}`, { id, version }])));
  const until = Math.min(...all.map(({ validUntil }) => validUntil));
  const parameters = [
    ...toLockArrays(locksOf(all)),
    [...new Set(all.flatMap(({ revision }) => revision ?? []))],
    [...users.values()].map(({ id }) => id),
    [...users.values()].map(({ version }) => version),
    [...new Set(all.flatMap(({ sessions }) => sessions))],
    Number.isFinite(until) ? until : null,
  ];
  return { sql: CALL, parameters };
}

/** Lock key of the revision. */
const REVISION_KEY = 0;
/** Number of lock keys that users are hashed to, so that a batch with hundreds of users takes few locks. */
const USER_KEYS = 64;
/** The first lock key for the keys of relation sets, after those of users, and the number of these lock keys. */
const FIRST_RELATION_KEY = REVISION_KEY + 1 + USER_KEYS;
const RELATION_KEYS = 64;
const ALL_RELATION_KEYS: readonly number[] = Array.from({ length: RELATION_KEYS }, (_, key) => FIRST_RELATION_KEY + key);
/** Number of all lock keys. */
const KEYS = FIRST_RELATION_KEY + RELATION_KEYS;

/** A statement that takes every validation lock in shared mode: until the transaction ends, no other commit can change its read set. */
export const BLOCK_ALL_WRITERS: Statement = Object.freeze({
  sql: CALL,
  parameters: [Array.from({ length: KEYS }, (_, key) => key), Array(KEYS).fill(false), [], [], [], [], null],
});

/** A lock that is not taken, a shared one and an exclusive one. */
const [NONE, SHARED, EXCLUSIVE] = [0, 1, 2];

/** Returns the lock to take for each key. */
function locksOf(all: readonly ReadWriteSet[]): Uint8Array {
  const locks = new Uint8Array(KEYS).fill(NONE);
  for (const { revision, users, relations } of all) {
    if (revision !== undefined) locks[REVISION_KEY] = SHARED;
    for (const id of users.keys()) locks[userKeyOf(id)] = SHARED;
    if (relations !== undefined) addRelationLocks(locks, relations.readKeys, SHARED);
  }
  for (const { advancesRevision, changedUsers, relations } of all) {
    if (advancesRevision) locks[REVISION_KEY] = EXCLUSIVE;
    for (const id of changedUsers) locks[userKeyOf(id)] = EXCLUSIVE;
    if (relations !== undefined) addRelationLocks(locks, relations.writeKeys, EXCLUSIVE);
  }
  return locks;
}

function addRelationLocks(locks: Uint8Array, keys: ReadonlySet<string> | 'all', lock: number): void {
  if (keys === 'all') locks.fill(lock, FIRST_RELATION_KEY);
  else for (const key of keys) locks[relationKeyOf(key)] = lock;
}

/** Returns the keys in ascending order, and for each of them whether its lock is exclusive, as texts: the driver would escape each item of an array. */
function toLockArrays(locks: Uint8Array): readonly [keys: string, areExclusive: string] {
  let [keys, areExclusive] = ['', ''];
  for (let key = 0; key < locks.length; key++) {
    if (locks[key] === NONE) continue;
    const separator = keys === '' ? '' : ',';
    keys += separator + key;
    areExclusive += separator + (locks[key] === EXCLUSIVE ? 't' : 'f');
  }
  return [`{${keys}}`, `{${areExclusive}}`];
}

/**
 * Returns the names of locks that a retry takes before it reads: one for each key of the written records. They differ from the locks of
 * validation, which are the last ones of a transaction.
 */
export function lockNamesOf(all: readonly ReadWriteSet[]): readonly string[] {
  const keys = new Set(all.flatMap(({ relations }) => [...relationKeys(relations?.writeKeys)]));
  // One lock for all keys would not conflict with the locks of single keys.
  if (keys.size === RELATION_KEYS) return [];
  return [...keys].sort((a, b) => a - b).map((key) => `relation ${key}`);
}

/** Returns the statement that changes the write marks of the written records. It follows the function of commit validation, which has taken their locks. */
export function toWriteMarks(all: readonly ReadWriteSet[]): readonly Query[] {
  const marks = new Set<string>();
  for (const { relations } of all) {
    const [first] = [...relationKeys(relations?.writeKeys)].sort((a, b) => a - b);
    if (first !== undefined) for (const resource of relations?.written.keys() ?? []) marks.add(writeMarkId(resource, first));
  }
  if (marks.size === 0) return [];
  const rows = [...marks].sort().map((id): Sql => sql`(${id}, pg_current_xact_id()::text)`);
  return [sql`INSERT INTO "_State" ("id", "text") VALUES ${sql.join(rows)} ON CONFLICT ("id") DO UPDATE SET "text" = excluded."text"`];
}

/** Hashes a user id to a lock key. All versions of the program must return the same key; a change needs a new name of the SQL function. */
function userKeyOf(id: string): number {
  return REVISION_KEY + 1 + (hashOf(id) % USER_KEYS);
}

/** Hashes the keys of a relation set to lock keys, by the same rule as `userKeyOf`. */
function relationKeys(keys: ReadonlySet<string> | 'all' | undefined): Iterable<number> {
  if (keys === undefined) return [];
  if (keys === 'all') return ALL_RELATION_KEYS;
  return new Set([...keys].map(relationKeyOf));
}

function relationKeyOf(key: string): number {
  return FIRST_RELATION_KEY + (hashOf(key) % RELATION_KEYS);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash >>> 0;
}

/** The detail of a failed validation: the current revision and time, and the users and sessions that changed; or the stale checks of relations. */
interface ValidationFailure {
  readonly epoch: string;
  readonly at: number;
  readonly users: readonly string[] | null;
  readonly sessions: readonly string[] | null;
  readonly checks: readonly string[];
}

/** The parts of a unit of work that a commit validates. */
interface Validated {
  readonly sets: ReadWriteSet;
  readonly deferred: readonly DeferredWrite[];
}

/** Parses the error of a failed validation. Returns a predicate that is true for a stale unit of work. */
export function parseStaleness(error: unknown): (work: Validated) => boolean {
  const failure = parseFailure(error);
  if (failure.checks !== undefined) return concernsOneOf(new Set(failure.checks));
  const [changedUsers, endedSessions] = [new Set(failure.users), new Set(failure.sessions)];
  return ({ sets: { revision, validUntil, users, sessions } }) =>
    (revision !== undefined && revision !== failure.epoch) ||
    (failure.at ?? 0) >= validUntil ||
    [...users.keys()].some((id) => changedUsers.has(id)) ||
    sessions.some((id) => endedSessions.has(id));
}

/** Returns true if a deferred write has failed that may succeed later: this proves nothing about an attempt in doubt. */
export function maySucceed(error: unknown): boolean {
  return parseFailure(error).checks?.some((key) => key.startsWith(MAY_SUCCEED)) === true;
}

/** Returns true if the check of a list has failed. */
export function namesList(error: unknown): boolean {
  return parseFailure(error).checks?.some(isListKey) === true;
}

function parseFailure(error: unknown): Partial<ValidationFailure> {
  return JSON.parse(serverDetail(error) ?? '{}');
}

/** Returns a predicate that is true for a unit of work with one of the stale reads or deferred writes. */
function concernsOneOf(stale: ReadonlySet<string>): (work: Validated) => boolean {
  return ({ sets: { relations }, deferred }) =>
    deferred.some(({ key }) => stale.has(key) || stale.has(MAY_SUCCEED + key)) ||
    (relations !== undefined &&
      ([...relations.records.keys()].some((key) => stale.has(key)) ||
        relations.related.some(({ key }) => stale.has(key)) ||
        relations.lists.some(({ key }) => stale.has(key)) ||
        relations.totals.some(({ key }) => stale.has(key))));
}
