import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Statement, Transaction } from '../contract.ts';
import { appliedDefinitions, type DefinitionRow, loadDefinitionRows, saveDefinitionRow, toAppliedState } from './applied-definitions.ts';
import { dialectOf } from './migration-dialects.ts';
import { hashDefinitions } from './migration-plan.ts';

const STANDING: Statement = Object.freeze({ sql: `SELECT "text" FROM "_State" WHERE "id" = 'definitions'`, parameters: [] });

/** Whether these are the definitions in force, to the letter: then tables have followed them. */
export async function isUpToDate(tx: Transaction, definitions: Definitions): Promise<boolean> {
  if (!(await dialectOf(tx).hasTable(tx, '_State'))) return false;
  return (await loadHash(tx)) === hashDefinitions(definitions);
}

/** Keeps the definitions in force: what the next start compares with, and what other processes go by. */
export async function saveDefinitionsInForce(tx: Transaction, definitions: Definitions): Promise<void> {
  const rows = new Map((await loadDefinitionRows(tx)).map((row) => [row.id, row]));
  for (const { name, hash, source } of definitions.values()) {
    const row: DefinitionRow = { id: name, hash, source, keptAside: false };
    if (!isSame(rows.get(name), row)) await saveDefinitionRow(tx, row);
  }
  const hash = hashDefinitions(definitions);
  if ((await loadHash(tx)) === hash) return;
  await tx.run(
    sql`INSERT INTO "_State" ("id", "text") VALUES ('definitions', ${hash}) ON CONFLICT ("id") DO UPDATE SET "text" = excluded."text"`,
  );
}

/**
 * The definitions in force where they are others than those known, because another process let tables follow other files;
 * undefined where they are the same. The service's own come with the program.
 */
export async function loadOtherDefinitions(tx: Transaction, known: Definitions): Promise<Definitions | undefined> {
  const hash = await loadHash(tx);
  if (hash === undefined || hash === hashDefinitions(known)) return undefined;
  const own = [...known].filter(([, { internal }]) => internal);
  const applied = appliedDefinitions(toAppliedState(await loadDefinitionRows(tx)).resources);
  const others = [...applied].filter(([, { internal }]) => !internal);
  const user = known.get('User');
  return new Map([...own, ...(user === undefined ? [] : [['User', user] as const]), ...others]);
}

async function loadHash(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string | null }>(STANDING);
  return row?.text ?? undefined;
}

function isSame(a: DefinitionRow | undefined, b: DefinitionRow): boolean {
  return a !== undefined && a.hash === b.hash && a.keptAside === b.keptAside && JSON.stringify(a.source) === JSON.stringify(b.source);
}
