import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Statement, Transaction } from '../contract.ts';
import { type DefinitionRow, loadAppliedDefinitions, loadDefinitionRows, saveDefinitionRow } from './applied-definitions.ts';
import { dialectOf } from './migration-dialects.ts';
import { hashDefinitions } from './migration-plan.ts';

const SELECT_HASH: Statement = Object.freeze({ sql: `SELECT "text" FROM "_State" WHERE "id" = 'definitions'`, parameters: [] });

/** Returns whether exactly these definitions are in force, so that no table has to be migrated. */
export async function isUpToDate(tx: Transaction, definitions: Definitions): Promise<boolean> {
  if (!(await dialectOf(tx).hasTable(tx, '_State'))) return false;
  return (await loadDefinitionsHash(tx)) === hashDefinitions(definitions);
}

/** Saves the definitions in force, which other processes load, and their hash, which the next start compares. */
export async function saveDefinitionsInForce(tx: Transaction, definitions: Definitions): Promise<void> {
  const rows = new Map((await loadDefinitionRows(tx)).map((row) => [row.id, row]));
  for (const { name, hash, source } of definitions.values()) {
    const row: DefinitionRow = { id: name, hash, source, archived: false };
    if (!isSame(rows.get(name), row)) await saveDefinitionRow(tx, row);
  }
  const hash = hashDefinitions(definitions);
  if ((await loadDefinitionsHash(tx)) === hash) return;
  await tx.run(
    sql`INSERT INTO "_State" ("id", "text") VALUES ('definitions', ${hash}) ON CONFLICT ("id") DO UPDATE SET "text" = excluded."text"`,
  );
}

/**
 * Loads the definitions in force if they differ from the known ones, because another process migrated the tables to other files.
 * Returns undefined if they are the same. The system definitions in the result are those of this program.
 */
export async function loadOtherDefinitions(tx: Transaction, known: Definitions): Promise<Definitions | undefined> {
  const hash = await loadDefinitionsHash(tx);
  if (hash === undefined || hash === hashDefinitions(known)) return undefined;
  const own = [...known].filter(([, { internal }]) => internal);
  const applied = await loadAppliedDefinitions(tx);
  const others = [...applied].filter(([, { internal }]) => !internal);
  const user = known.get('User');
  return new Map([...own, ...(user === undefined ? [] : [['User', user] as const]), ...others]);
}

/** Returns whether the audit log has hash chains. Only a migration by a program version that writes hash chains adds them. */
export function hasChains(tx: Transaction): Promise<boolean> {
  return dialectOf(tx).hasTable(tx, '_Chain');
}

/** Returns whether versions of policies are hashed. Only a migration by a program version that hashes them adds the column. */
export async function hasHistoryHashes(tx: Transaction): Promise<boolean> {
  const tables = await dialectOf(tx).introspect(tx);
  return tables.some(({ name, columns }) => name === '_Epoch' && columns.has('historyHash'));
}

/** Loads the hash of the definitions in force; undefined before the first migration. */
export async function loadDefinitionsHash(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string | null }>(SELECT_HASH);
  return row?.text ?? undefined;
}

function isSame(a: DefinitionRow | undefined, b: DefinitionRow): boolean {
  return a !== undefined && a.hash === b.hash && a.archived === b.archived && JSON.stringify(a.source) === JSON.stringify(b.source);
}
