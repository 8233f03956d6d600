import type { Statement } from '../contract.ts';
import { STALE, serverDetail } from './driver-error.ts';
import type { ReadSet } from './read-set.ts';

/** Name of the function that looks, last of all, whether what works rest on is still so. What it takes and does is one with the name. */
export const GUARD = 'bailiwick_guard_1';

/**
 * SQL that makes the function. Each statement in it sees what is committed by then, after it has waited for its locks, which everybody
 * takes in one order:
 *
 * - `shared` for what works rest on, `exclusive` for what they change. Both are held until the commit is done and others see it. So
 *   whoever changes something waits for those who still rest on what was before, and whoever comes later finds the change.
 * - They are the last locks that a transaction takes, so nobody who holds one waits for anything but the commit behind it.
 *
 * Few statements, for each costs more than what it asks.
 */
export function commitValidationSql(): string {
  return `CREATE OR REPLACE FUNCTION ${GUARD}(
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
    (SELECT array_agg(rested.id) FROM unnest(user_ids, versions) AS rested(id, version)
      LEFT JOIN "User" ON "User"."id" = rested.id WHERE coalesce("User"."version", 0) <> rested.version),
    (SELECT array_agg(rested.id) FROM unnest(session_ids) AS rested(id)
      LEFT JOIN "_Session" ON "_Session"."id" = rested.id WHERE "_Session"."id" IS NULL OR "_Session"."revokedAt" IS NOT NULL)
  INTO stamp, moved, ended;
  stamp := coalesce(stamp, '');
  at := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF NOT stamp = ALL (stamps) OR moved IS NOT NULL OR ended IS NOT NULL OR at >= valid_until THEN
    RAISE EXCEPTION 'what the answer rests on has changed' USING ERRCODE = '${STALE}',
      DETAIL = json_build_object('epoch', stamp, 'at', at, 'users', moved, 'sessions', ended);
  END IF;
  RETURN at;
END $guard$`;
}

const CALL = `SELECT ${GUARD}($1::integer[], $2::boolean[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint) AS "now"`;

/** The statement that looks, for one work or for several that commit together; answers the time as `now`. */
export function toCommitValidation(all: readonly ReadSet[]): Statement {
  const users = new Map(all.flatMap((grounds) => [...grounds.users].map(([id, version]) => [`${version} ${id}`, { id, version }])));
  const until = Math.min(...all.map(({ validUntil }) => validUntil));
  const places = [...placesOf(all)].sort(([a], [b]) => a - b);
  const parameters = [
    places.map(([place]) => place),
    places.map(([, isExclusive]) => isExclusive),
    [...new Set(all.flatMap(({ epoch }) => epoch ?? []))],
    [...users.values()].map(({ id }) => id),
    [...users.values()].map(({ version }) => version),
    [...new Set(all.flatMap(({ sessions }) => sessions))],
    Number.isFinite(until) ? until : null,
  ];
  return { sql: CALL, parameters };
}

/** The place of the epoch. */
const EPOCH = 0;
/** Users share so many: a server has room for some thousands of locks, and a group may be of hundreds of users. */
const PLACES = 64;

/** Keeps whatever works rest on from being changed, for as long as the transaction lasts. */
export const HOLD_ALL: Statement = Object.freeze({
  sql: CALL,
  parameters: [
    Array.from({ length: EPOCH + 1 + PLACES }, (_, place) => place),
    Array(EPOCH + 1 + PLACES).fill(false),
    [],
    [],
    [],
    [],
    null,
  ],
});

/** Which locks are taken, and whether for itself alone. */
function placesOf(all: readonly ReadSet[]): ReadonlyMap<number, boolean> {
  const places = new Map<number, boolean>();
  for (const { epoch, users } of all) {
    if (epoch !== undefined) places.set(EPOCH, false);
    for (const id of users.keys()) places.set(placeOf(id), false);
  }
  for (const { begins, changed } of all) {
    if (begins) places.set(EPOCH, true);
    for (const id of changed) places.set(placeOf(id), true);
  }
  return places;
}

/** The same in all processes, whatever their version, or one would not wait for the other: another one needs another name of the function. */
function placeOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0;
  return EPOCH + 1 + ((hash >>> 0) % PLACES);
}

/** What the guard found, where it failed. */
interface Found {
  readonly epoch: string;
  readonly at: number;
  readonly users: readonly string[] | null;
  readonly sessions: readonly string[] | null;
}

/** Tells of each work, by the error that the guard of all of them failed with, whether it was for it. */
export function readStale(error: unknown): (grounds: ReadSet) => boolean {
  const found = JSON.parse(serverDetail(error) ?? '{}') as Partial<Found>;
  const [users, sessions] = [new Set(found.users), new Set(found.sessions)];
  return ({ epoch, validUntil, users: rested, sessions: logins }) =>
    (epoch !== undefined && epoch !== found.epoch) ||
    (found.at ?? 0) >= validUntil ||
    [...rested.keys()].some((id) => users.has(id)) ||
    logins.some((id) => sessions.has(id));
}
