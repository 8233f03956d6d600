import { createHash } from 'node:crypto';
import type { Definitions } from '../../resource/index.ts';
import type { Step } from './plan.ts';

/** Raised where the same definitions come to other tables than before: the next start looks at them again. */
const TABLES_VERSION = 1;

const known = new WeakMap<Definitions, string>();

/** SHA-256 of definitions as written, the program's own among them: the same as long as nothing at all is said otherwise. */
export function hashDefinitions(definitions: Definitions): string {
  let hash = known.get(definitions);
  if (hash === undefined) {
    const sources = [...definitions.values()].map(({ name, source }) => [name, source] as const);
    hash = digest([TABLES_VERSION, sources.sort(([a], [b]) => (a < b ? -1 : 1))]);
    known.set(definitions, hash);
  }
  return hash;
}

/**
 * SHA-256 of a plan. What comes and goes while the service runs is left out (how many rows are to be given a default),
 * what would be lost is not: whoever allowed the loss of two values has not allowed that of three.
 */
export function hashPlan(steps: readonly Step[], definitions: Definitions): string {
  const essence = steps.map(({ resource, kind, risk, field, from, sql, rows, ids }) => {
    const loss = risk === 'lossy' || risk === 'destructive' ? { rows, ids } : {};
    return { resource, kind, risk, field, from, sql, ...loss };
  });
  const hashes = [...definitions.values()].map(({ name, hash }) => [name, hash] as const);
  return digest([essence, hashes.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function digest(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(text).digest('hex');
}
