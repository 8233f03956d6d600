import type { Config } from '../config/index.ts';
import type { CliContext, CliTables, StoragePlan, StorageStep } from './cli-context.ts';

/** What risks somebody has to allow. */
const ASKS_FIRST: ReadonlySet<string> = new Set(['lossy', 'destructive']);

/** Opens the tables for one piece of work and closes them after it. */
export async function withTables(world: CliContext, settings: Config, work: (tables: CliTables) => Promise<number>): Promise<number> {
  const tables = await world.openTables(settings);
  try {
    return await work(tables);
  } finally {
    await tables.close();
  }
}

/** Steps with their SQL, as it could be run. */
export function printSteps(world: CliContext, steps: readonly StorageStep[]): void {
  for (const { resource, risk, reason, sql } of steps) {
    world.print(`-- ${resource}, ${risk}: ${reason}`);
    for (const statement of sql) world.print(`${statement.trimEnd().replace(/;$/, '')};`);
  }
}

/** Which resources stay as they were, and what could be done about it; answers the exit code. */
export function printHeld(world: CliContext, { steps, held, hash }: StoragePlan): number {
  for (const resource of held) {
    const why = steps.filter((step) => step.resource === resource && (step.risk === 'blocked' || ASKS_FIRST.has(step.risk)));
    for (const { risk, reason } of why) world.printError(`${resource} stays as it is (${risk}): ${reason}`);
  }
  const asks = steps.filter(({ resource, risk }) => held.includes(resource) && ASKS_FIRST.has(risk));
  if (asks.length > 0) world.printError(`to have it done all the same: bailiwick storage apply --allow ${hash}`);
  return held.length === 0 ? 0 : 1;
}
