import type { Config } from '../config/index.ts';
import type { Tables } from '../project/index.ts';
import type { Plan, Step } from '../storage/index.ts';
import type { CliContext } from './cli-context.ts';

/** The risks that need `--allow`. A copy of `NEEDS_CONFIRMATION` in the migrations, which the CLI does not import. */
const NEEDS_ALLOW: ReadonlySet<string> = new Set(['lossy', 'destructive']);

/** Opens the tables, runs `work` and closes the tables. Returns the exit code of `work`. */
export async function withTables(context: CliContext, config: Config, work: (tables: Tables) => Promise<number>): Promise<number> {
  const tables = await context.openTables(config);
  try {
    return await work(tables);
  } finally {
    await tables.close();
  }
}

/** Prints migration steps as an SQL script, with a comment before the statements of each step. */
export function printSteps(context: CliContext, steps: readonly Step[]): void {
  for (const { resource, risk, reason, sql } of steps) {
    context.print(`-- ${resource}, ${risk}: ${reason}`);
    for (const statement of sql) context.print(`${statement.trimEnd().replace(/;$/, '')};`);
  }
}

/** Prints the resources that are not migrated, with the reasons and, for lossy steps, the command that performs them. Returns the exit code. */
export function printHeld(context: CliContext, { steps, held, hash }: Plan): number {
  for (const resource of held) {
    const reasons = steps.filter((step) => step.resource === resource && (step.risk === 'blocked' || NEEDS_ALLOW.has(step.risk)));
    for (const { risk, reason } of reasons) context.printError(`${resource} is not migrated (${risk}): ${reason}`);
  }
  const allowable = steps.filter(({ resource, risk }) => held.includes(resource) && NEEDS_ALLOW.has(risk));
  if (allowable.length > 0) context.printError(`to perform the lossy steps, run: bailiwick storage apply --allow ${hash}`);
  return held.length === 0 ? 0 : 1;
}
