/** Has the guard say yes to everything, behind the back of the program: to prove that tests would notice if it did. */
import type { Fleet } from './fleet.ts';

/** Replaces it in the database; gives what it was. */
export async function disableGuard(fleet: Fleet): Promise<string> {
  const [found] = await fleet.query(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname LIKE 'bailiwick_guard%' AND pronamespace = current_schema()::regnamespace`,
  );
  const text = String(found?.['text']);
  const yes = text.replace(/(\$\w*\$)[\s\S]*\1/, '$1 BEGIN RETURN floor(extract(epoch FROM clock_timestamp()) * 1000); END $1');
  if (yes === text) throw new Error(`expected the guard to be a function, given ${text}`);
  await fleet.query(yes);
  return text;
}

/** Puts it back. */
export async function restoreGuard(fleet: Fleet, text: string): Promise<void> {
  await fleet.query(text);
}
