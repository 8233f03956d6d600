/** Makes commit validation accept everything in the database, to prove that the tests detect its absence. */
import type { Fleet } from './fleet.ts';

/** Replaces the database function of commit validation; returns its original text. */
export async function disableCommitValidation(fleet: Fleet): Promise<string> {
  const [found] = await fleet.query(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname LIKE 'bailiwick_guard%' AND pronamespace = current_schema()::regnamespace`,
  );
  const text = String(found?.['text']);
  const yes = text.replace(/(\$\w*\$)[\s\S]*\1/, '$1 BEGIN RETURN floor(extract(epoch FROM clock_timestamp()) * 1000); END $1');
  if (yes === text) throw new Error(`expected a function for commit validation, given ${text}`);
  await fleet.query(yes);
  return text;
}

/** Restores the database function. */
export async function restoreCommitValidation(fleet: Fleet, text: string): Promise<void> {
  await fleet.query(text);
}
