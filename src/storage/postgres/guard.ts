import type { Statement } from '../database.ts';
import { STALE, serverDetail } from './driver-error.ts';
import type { Grounds } from './grounds.ts';

/** Name of the function that looks, last of all, whether what works rest on is still so. What it takes and does is one with the name. */
export const GUARD = 'bailiwick_guard_1';

/**
 * SQL that makes the function. Each statement in it sees what is committed by then, after it has waited for its locks, which it takes
 * in one order:
 *
 * - `shared` for what works rest on, `exclusive` for what they change. Both are held until the commit is done and others see it. So
 *   whoever changes something waits for those who still rest on what was before, and whoever comes later finds the change.
 * - They are the last locks that a transaction takes, so nobody who holds one waits for anything but the commit behind it.
 * - Users share 64 of them: a server has room for some thousands, and a group of works may be of as many users.
 */
export function guardSql(): string {
  return `CREATE OR REPLACE FUNCTION ${GUARD}(
    stamps text[], begins boolean, user_ids text[], versions bigint[], changed text[], session_ids text[], valid_until bigint
  ) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $guard$
DECLARE
  space CONSTANT integer := hashtext(coalesce(current_schema(), '') || ' bailiwick guard');
  place record;
  stamp text;
  at bigint;
  moved text[];
  ended text[];
BEGIN
  FOR place IN
    SELECT number, bool_or(alone) AS alone FROM (
      SELECT 0 AS number, begins AS alone WHERE begins OR cardinality(stamps) > 0
      UNION ALL SELECT 1 + (hashtext(id) & 63), false FROM unnest(user_ids) AS rested(id)
      UNION ALL SELECT 1 + (hashtext(id) & 63), true FROM unnest(changed) AS own(id)
    ) AS wanted GROUP BY number ORDER BY number
  LOOP
    IF place.alone THEN PERFORM pg_advisory_xact_lock(space, place.number);
    ELSE PERFORM pg_advisory_xact_lock_shared(space, place.number);
    END IF;
  END LOOP;
  IF cardinality(stamps) > 0 THEN
    SELECT coalesce("text", '') INTO stamp FROM "_State" WHERE "id" = 'epoch';
  END IF;
  IF cardinality(user_ids) > 0 THEN
    SELECT array_agg(rested.id) INTO moved
    FROM unnest(user_ids, versions) AS rested(id, version) LEFT JOIN "User" ON "User"."id" = rested.id
    WHERE coalesce("User"."version", 0) <> rested.version;
  END IF;
  IF cardinality(session_ids) > 0 THEN
    SELECT array_agg(rested.id) INTO ended
    FROM unnest(session_ids) AS rested(id) LEFT JOIN "_Session" ON "_Session"."id" = rested.id AND "revokedAt" IS NULL
    WHERE "_Session"."id" IS NULL;
  END IF;
  at := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF moved IS NOT NULL OR ended IS NOT NULL OR at >= valid_until OR EXISTS (SELECT FROM unnest(stamps) AS rested(on_stamp) WHERE on_stamp <> coalesce(stamp, '')) THEN
    RAISE EXCEPTION 'what the answer rests on has changed' USING ERRCODE = '${STALE}',
      DETAIL = json_build_object('epoch', coalesce(stamp, ''), 'at', at, 'users', moved, 'sessions', ended);
  END IF;
  RETURN at;
END $guard$`;
}

const CALL = `SELECT ${GUARD}($1::text[], $2::boolean, $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint) AS "now"`;

/** The statement that looks, for one work or for several that commit together; answers the time as `now`. */
export function toGuard(all: readonly Grounds[]): Statement {
  const users = new Map(all.flatMap((grounds) => [...grounds.users].map(([id, version]) => [`${version} ${id}`, { id, version }])));
  const until = Math.min(...all.map(({ validUntil }) => validUntil));
  const parameters = [
    [...new Set(all.flatMap(({ epoch }) => epoch ?? []))],
    all.some(({ begins }) => begins),
    [...users.values()].map(({ id }) => id),
    [...users.values()].map(({ version }) => version),
    [...new Set(all.flatMap(({ changed }) => [...changed]))],
    [...new Set(all.flatMap(({ sessions }) => sessions))],
    Number.isFinite(until) ? until : null,
  ];
  return { sql: CALL, parameters };
}

/** What the guard found, where it failed. */
interface Found {
  readonly epoch: string;
  readonly at: number;
  readonly users: readonly string[] | null;
  readonly sessions: readonly string[] | null;
}

/** Tells of each work, by the error that the guard of all of them failed with, whether it was for it. */
export function readStale(error: unknown): (grounds: Grounds) => boolean {
  const found = JSON.parse(serverDetail(error) ?? '{}') as Partial<Found>;
  const [users, sessions] = [new Set(found.users), new Set(found.sessions)];
  return ({ epoch, validUntil, users: rested, sessions: logins }) =>
    (epoch !== undefined && epoch !== found.epoch) ||
    (found.at ?? 0) >= validUntil ||
    [...rested.keys()].some((id) => users.has(id)) ||
    logins.some((id) => sessions.has(id));
}
