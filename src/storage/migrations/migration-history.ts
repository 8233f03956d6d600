import { createId } from '../../ids.ts';
import { sql } from '../../sql.ts';
import { parseStoredJson } from '../checksums/damaged-rows.ts';
import type { Transaction } from '../contract.ts';
import { dialectOf } from './migration-dialects.ts';
import type { Step } from './migration-plan.ts';

/** One migration, prune or restore in the history. */
export interface MigrationRecord {
  readonly id: string;
  readonly at: string;
  /** `start`, `dev`, `cli`, or the id of a user. */
  readonly actor: string;
  readonly planHash: string;
  readonly steps: readonly PerformedStep[];
  readonly durationMs: number;
}

/** A performed step. The kinds `backup` and `restore` have the resource `*`. */
export interface PerformedStep extends Pick<Step, 'resource' | 'field' | 'risk' | 'reason'> {
  readonly kind: string;
}

/** A migration that is to be recorded. */
export interface CompletedMigration extends Pick<MigrationRecord, 'actor' | 'planHash'> {
  readonly steps: readonly Step[];
  /** The start time, from `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** The name of the backup that was written before the first step; undefined without a backup. */
  readonly backup?: string | undefined;
}

const ALL_RESOURCES = { resource: '*' } as const;

/** Records a migration that performed at least one step, in the transaction of the migration. */
export async function recordMigration(tx: Transaction, { actor, planHash, steps, startedAt, backup }: CompletedMigration): Promise<void> {
  const performed = steps.map(({ kind, resource, field, risk, reason }) => ({ kind, resource, field, risk, reason }));
  const written =
    backup === undefined ? [] : [{ ...ALL_RESOURCES, kind: 'backup', risk: 'safe', reason: `a backup was written first: ${backup}` }];
  await insertMigration(tx, { actor, planHash, steps: [...written, ...performed], startedAt });
}

/** Records a restore in the history. A new random value in `_State` lets other processes detect that the content was replaced. */
export async function recordRestore(
  tx: Transaction,
  { reason, startedAt }: { readonly reason: string; readonly startedAt: number },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO "_State" ("id", "text") VALUES ('restored', ${createId()}) ON CONFLICT ("id") DO UPDATE SET "text" = excluded."text"`,
  );
  await insertMigration(tx, {
    actor: 'cli',
    planHash: '',
    steps: [{ ...ALL_RESOURCES, kind: 'restore', risk: 'destructive', reason }],
    startedAt,
  });
}

async function insertMigration(
  tx: Transaction,
  {
    actor,
    planHash,
    steps,
    startedAt,
  }: Pick<CompletedMigration, 'actor' | 'planHash' | 'startedAt'> & { readonly steps: readonly object[] },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO "_Evolution" ("id", "at", "actor", "planHash", "steps", "durationMs") VALUES
      (${createId()}, ${new Date(tx.now).toISOString()}, ${actor}, ${planHash}, ${JSON.stringify(steps)}, ${Math.round(performance.now() - startedAt)})`,
  );
}

/** Lists the latest migrations, prunes and restores, newest first. Returns an empty list if the database was never migrated. */
export async function listMigrations(tx: Transaction, limit: number): Promise<readonly MigrationRecord[]> {
  if (!(await dialectOf(tx).hasTable(tx, '_Evolution'))) return [];
  const rows = await tx.all<Omit<MigrationRecord, 'steps'> & { steps: string }>(
    sql`SELECT "id", "at", "actor", "planHash", "steps", "durationMs" FROM "_Evolution" ORDER BY "at" DESC, "id" DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({ ...row, steps: parseStoredJson<readonly PerformedStep[]>({ table: '_Evolution', id: row.id }, row.steps) }));
}

/**
 * Loads the number of a revision at or after the last migration, prune or restore. Decisions of this and later revisions were made with the
 * present definitions.
 */
export async function loadDefinitionsRevision(tx: Transaction): Promise<number> {
  // A migration has the same time as the revision that it creates.
  const last = sql`SELECT max("at") FROM "_Evolution"`;
  const row = await tx.one<{ readonly number: number }>(
    sql`SELECT "number" FROM "_Epoch" WHERE "at" <= (${last}) ORDER BY "number" DESC NULLS LAST LIMIT 1`,
  );
  return Number(row?.number ?? 0);
}
