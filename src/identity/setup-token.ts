import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';

/** Row of `_State`: hashes of the set-up tokens that count, the newest first. */
const ROW = 'setupTokens';

/** Set-up tokens that count: of the newest starts. A process that starts again and again does not fill the row. */
const MOST = 10;

/**
 * Makes a set-up token and returns it, the only time that it is known. Each start prints one of its own: what another replica, or the
 * start before, has printed works too, until set-up is done.
 */
export async function makeSetupToken(tx: Transaction): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  await tx.lock('setup');
  const text = [toHash(token), ...(await loadHashes(tx))].slice(0, MOST).join(' ');
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${ROW}, ${text}) on conflict ("id") do update set "text" = excluded."text"`);
  return token;
}

/** Whether this is a set-up token that counts. Takes the same time for every token. */
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

/** Fast, because a token is 192 random bits: nothing is gained by trying. */
function toHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
