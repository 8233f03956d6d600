import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';

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
