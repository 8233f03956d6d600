import type { ApplicableRules, CompiledRule } from '../authz/policies/index.ts';
import { type Path, zonedPaths } from '../conditions/index.ts';
import { memoize } from '../memoize.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Maximum entries that one statement finds. */
const CHUNK = 500;

/**
 * Loads the time zones in which entries were decided, by the id of the entry. The hash chain of an entry stores the time zone; entries of chains
 * that earlier versions began have none.
 */
export async function loadTimeZones(tx: Transaction, entries: readonly AuditEntry[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let from = 0; from < entries.length; from += CHUNK) {
    const some = entries.slice(from, from + CHUNK);
    const times = some.map(({ at }) => at).toSorted();
    // The times exclude partitions of other days.
    const rows = await tx.all<{ readonly id: string; readonly timeZone: string }>(sql`
      select d."id" as "id", c."timeZone" as "timeZone" from "_Decision" as d join "_Chain" as c on c."id" = d."writer"
      where d."id" in (${sql.join(some.map(({ id }) => id))}) and d."at" between ${times[0]} and ${times.at(-1)} and c."timeZone" is not null`);
    for (const { id, timeZone } of rows) found.set(id, timeZone);
  }
  return found;
}

/** Values of the environment that are parts of the local time. */
const LOCAL: ReadonlySet<string> = new Set(['date', 'hour', 'minute', 'dayOfWeek']);

/** Returns true for a value of the environment that depends on the time zone. */
export function isLocalTime({ group, keys }: Path): boolean {
  return group === 'environment' && LOCAL.has(keys[0] ?? '');
}

/** The reads and comparisons of applicable rules that depend on the time zone. */
interface ZonedRules {
  /** The paths whose comparisons depend on the time zone. */
  readonly paths: ReadonlySet<string>;
  readonly isZoned: boolean;
}

const zoned = new WeakMap<readonly CompiledRule[], ZonedRules>();

function zonedRulesOf({ rules, reads }: ApplicableRules): ZonedRules {
  return memoize(zoned, rules, () => {
    const paths = new Set(rules.flatMap(({ condition }) => zonedPaths(condition)).map(({ text }) => text));
    return { paths, isZoned: paths.size > 0 || reads.some(({ path }) => isLocalTime(path)) };
  });
}

/** Returns true if the decision of rules can depend on the time zone. */
export function dependsOnTimeZone(applicable: ApplicableRules): boolean {
  return zonedRulesOf(applicable).isZoned;
}

/** Returns true if a rule compares the value of a path with a time in the time zone of the service, such as `timeOfDayBetween` does. */
export function isZonedPath(applicable: ApplicableRules, path: Path): boolean {
  return zonedRulesOf(applicable).paths.has(path.text);
}
