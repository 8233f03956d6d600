import { createId } from '../ids.ts';
import type { JsonObject } from '../operators/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';

/** A view of a screen that a user has saved under a name. */
export interface SavedView {
  readonly name: string;
  /** The name of the screen. */
  readonly screen: string;
  /** The state of the screen: its filters, sorting and columns. The service does not interpret it. */
  readonly query: JsonObject;
  readonly version: number;
  readonly updatedAt: string;
}

/** The name of a view, and its user. */
export interface ViewKey {
  readonly userId: string;
  readonly name: string;
}

interface ViewRow extends Omit<SavedView, 'query'> {
  readonly query: string;
}

/** Returns the views of a user, by name. */
export async function savedViewsOf(tx: Transaction, userId: string): Promise<readonly SavedView[]> {
  const rows = await tx.all<ViewRow>(sql`
    select "name", "screen", "query", "version", "updatedAt" from "_SavedView" where "userId" = ${userId} order by "name"`);
  return rows.map((row) => ({ ...row, query: JSON.parse(row.query) as JsonObject }));
}

/**
 * Locks the views of a user until the end of the transaction, and returns the version of one; undefined if there is none. Without the lock,
 * concurrent transactions could both create the view, or exceed the number of views.
 */
export async function versionToChange(tx: Transaction, { userId, name }: ViewKey): Promise<number | undefined> {
  await tx.lock(`views ${userId}`);
  const row = await tx.one<{ version: number }>(sql`select "version" from "_SavedView" where "userId" = ${userId} and "name" = ${name}`);
  return row?.version;
}

/** Inserts or replaces a view. */
export async function writeView(tx: Transaction, { userId, name }: ViewKey, view: Omit<SavedView, 'name'>): Promise<void> {
  const { screen, query, version, updatedAt } = view;
  await tx.run(sql`
    insert into "_SavedView" ("id", "userId", "name", "screen", "query", "version", "updatedAt")
    values (${createId()}, ${userId}, ${name}, ${screen}, ${JSON.stringify(query)}, ${version}, ${updatedAt})
    on conflict ("userId", "name") do update set
      "screen" = excluded."screen", "query" = excluded."query", "version" = excluded."version", "updatedAt" = excluded."updatedAt"`);
}

/** Deletes a view. */
export async function deleteView(tx: Transaction, { userId, name }: ViewKey): Promise<void> {
  await tx.run(sql`delete from "_SavedView" where "userId" = ${userId} and "name" = ${name}`);
}

/** Deletes the views of a user who is deleted. */
export async function deleteViewsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.run(sql`delete from "_SavedView" where "userId" = ${userId}`);
}
