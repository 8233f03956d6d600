/** Reads the tables of a database that an earlier version of the program has migrated last: their newer columns are absent. */
import type { Database, Transaction } from './contract.ts';
import { dialectOf } from './migrations/migration-dialects.ts';
import { missingColumns, POLICY_TABLES } from './policies/policy-tables.ts';

/** Notes the columns that the tables of policies do not have yet. Returns false if they have all. */
async function noteMissingColumns(tx: Transaction): Promise<boolean> {
  const stored = new Map((await dialectOf(tx).introspect(tx)).map(({ name, columns }) => [name, columns]));
  const missing = Object.values(POLICY_TABLES).flatMap(({ name, fields }) => {
    const columns = stored.get(name);
    const absent = columns === undefined ? [] : [...fields.keys()].filter((field) => !columns.has(field));
    return absent.length === 0 ? [] : [[name, absent] as const];
  });
  missingColumns.set(tx, new Map(missing));
  return missing.length > 0;
}

/** Returns a function that runs transactions, which read tables of an earlier version as they are. */
export function readingEarlierTables(transaction: Database['transaction']): Database['transaction'] {
  // Another process may migrate the tables, but none removes columns.
  let mayLack = true;
  return (work, options) =>
    transaction(async (tx) => {
      if (mayLack) mayLack = await noteMissingColumns(tx);
      return work(tx);
    }, options);
}
