import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import { deriveKey, type TokenKey } from './signing-key.ts';

/** Row of `_State`: the fingerprint of the token key of the latest start. */
const ROW = 'token key';

/**
 * Stores the fingerprint of the token key. Returns a notice if the previous start, perhaps of another replica, had another key: it may have been
 * replaced on purpose.
 */
export async function noteTokenKey(tx: Transaction, key: TokenKey): Promise<readonly string[]> {
  const fingerprint = deriveKey(key, 'fingerprint').export().toString('base64url');
  const stored = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = ${ROW}`);
  if (stored?.text === fingerprint) return [];
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${ROW}, ${fingerprint}) on conflict ("id") do update set "text" = excluded."text"`);
  if (stored === undefined) return [];
  return [
    'the token key is another one than at the previous start, so access tokens from before are refused; if several replicas use this database, give all of them the same key',
  ];
}
