import { createId } from '../../ids.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { dialectOf } from './migration-dialects.ts';
import type { Step } from './migration-plan.ts';

/** One time that something was done. */
export interface MigrationRecord {
  readonly id: string;
  readonly at: string;
  /** `start`, `dev`, `cli`, or the id of a user. */
  readonly actor: string;
  readonly planHash: string;
  /** What was done: kind, resource, field, risk, reason. A backup and a restore are of resource `*`. */
  readonly steps: readonly JsonObject[];
  readonly durationMs: number;
}

/** What is kept of an evolution. */
export interface CompletedMigration extends Pick<MigrationRecord, 'actor' | 'planHash'> {
  readonly steps: readonly Step[];
  /** When it began, by `performance.now()`. */
  readonly from: number;
  /** The name of the backup of what stood before, where one was made. */
  readonly backup?: string | undefined;
}

/** What is done to no resource by itself. */
const OF_ALL = { resource: '*' } as const;

/** Keeps one row for an evolution that did something, in its own transaction. */
export async function recordMigration(tx: Transaction, { actor, planHash, steps, from, backup }: CompletedMigration): Promise<void> {
  const shown = steps.map(({ kind, resource, field, risk, reason }) => ({ kind, resource, field, risk, reason }));
  const kept = backup === undefined ? [] : [{ ...OF_ALL, kind: 'backup', risk: 'safe', reason: `what stood before is kept as ${backup}` }];
  await insertEvolution(tx, { actor, planHash, steps: [...kept, ...shown], from });
}

/** Keeps one row for a restore, in its own transaction; whoever works with the database learns from it that it is another. */
export async function recordRestore(tx: Transaction, { reason, from }: { readonly reason: string; readonly from: number }): Promise<void> {
  await tx.run(
    sql`INSERT INTO "_State" ("id", "text") VALUES ('restored', ${createId()}) ON CONFLICT ("id") DO UPDATE SET "text" = excluded."text"`,
  );
  await insertEvolution(tx, { actor: 'cli', planHash: '', steps: [{ ...OF_ALL, kind: 'restore', risk: 'destructive', reason }], from });
}

async function insertEvolution(
  tx: Transaction,
  { actor, planHash, steps, from }: Pick<CompletedMigration, 'actor' | 'planHash' | 'from'> & { readonly steps: readonly object[] },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO "_Evolution" ("id", "at", "actor", "planHash", "steps", "durationMs") VALUES
      (${createId()}, ${new Date(tx.now).toISOString()}, ${actor}, ${planHash}, ${JSON.stringify(steps)}, ${Math.round(performance.now() - from)})`,
  );
}

/** Whether the record is kept in chains: not before an evolution of this version. */
export function hasChains(tx: Transaction): Promise<boolean> {
  return dialectOf(tx).hasTable(tx, '_Chain');
}

/** Returns whether versions of policies are hashed: only after a migration by a program version that hashes them. */
export async function hasHistoryHashes(tx: Transaction): Promise<boolean> {
  const tables = await dialectOf(tx).introspect(tx);
  return tables.some(({ name, columns }) => name === '_Epoch' && columns.has('historyHash'));
}

/** What was done, the newest first; nothing of a database that no evolution has seen. */
export async function listMigrations(tx: Transaction, limit: number): Promise<readonly MigrationRecord[]> {
  if (!(await dialectOf(tx).hasTable(tx, '_Evolution'))) return [];
  const rows = await tx.all<Omit<MigrationRecord, 'steps'> & { steps: string }>(
    sql`SELECT "id", "at", "actor", "planHash", "steps", "durationMs" FROM "_Evolution" ORDER BY "at" DESC, "id" DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({ ...row, steps: JSON.parse(row.steps) as readonly JsonObject[] }));
}
