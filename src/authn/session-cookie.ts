import { randomBytes } from 'node:crypto';
import type { HttpRequest } from '../request/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** Row of `_State`: the random id of the database in the name of the cookie. */
const ROW = 'instance';

/**
 * Loads the name of the session cookie; creates it on the first login. The name contains an id of the database, because cookies do not
 * distinguish ports: two services on one host would overwrite each other's cookie. All replicas share the id.
 */
export async function loadCookieName(tx: Transaction): Promise<string> {
  const known = await findCookieName(tx);
  if (known !== undefined) return known;
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${ROW}, ${randomBytes(8).toString('hex')}) on conflict ("id") do nothing`);
  // Another replica may have created the id.
  return (await findCookieName(tx)) as string;
}

/** Loads the name of the session cookie; undefined before the first login. */
export async function findCookieName(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = ${ROW}`);
  // Browsers accept the prefix only with Secure, Path=/ and without Domain, so that no other host can set the cookie.
  return row && `__Host-bailiwick-${row.text}`;
}

/** Returns the value of the cookie with this name. Returns undefined if it was not sent, or sent twice. */
export function readCookie({ header }: Pick<HttpRequest, 'header'>, name: string): string | undefined {
  const values = (header('cookie') ?? '').split(';').flatMap((pair) => {
    const [key, value] = pair.trim().split('=', 2);
    return key === name && value !== undefined ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the Set-Cookie header that stores a value for some seconds; 0 deletes the cookie. */
export function toSetCookie(name: string, { value, seconds }: { readonly value: string; readonly seconds: number }): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`;
}
