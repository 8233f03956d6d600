import type { Decision } from '../authz/decision/index.ts';
import { type ApplicableRules, isSameRank, type PathRead } from '../authz/policies/index.ts';
import { type Path, type PathKind, type Scope, UNRESOLVED } from '../conditions/index.ts';
import { type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Stands for a value that was too long to keep. It is of no kind that compares, so what depends on it reads as unknown. */
const NOT_KEPT: JsonObject = Object.freeze({ notKept: true });
/** Said under this name: there were more paths than could be kept. No path is called so. */
const THE_REST = '*';
const MARKER_BYTES = JSON.stringify(NOT_KEPT).length;

/**
 * The paths whose values it takes to explain a decision later. Of one that allows: those of the rules considered, and of those
 * tied with the one that fired. Otherwise all: any rule might come near to allowing, or is part of the condition that remains.
 */
export function readsToExplain({ ranked, rules, reads }: ApplicableRules, decision: Decision): readonly PathRead[] {
  const fired = decision.effect === 'allow' ? rules.indexOf(decision.rule) : -1;
  const rank = ranked[fired];
  if (rank === undefined) return reads;
  let count = fired + 1;
  for (let next = ranked[count]; next !== undefined && isSameRank(next, rank); next = ranked[count]) count++;
  return count === rules.length ? reads : reads.filter(({ first }) => first < count);
}

/**
 * What conditions read: path → value, for explaining the decision later. Missing values are left out.
 * Values of secret fields cannot be among them: a scope does not show those.
 *
 * @param maxBytes Bounds the facts as JSON; what does not fit is replaced by `{ "notKept": true }`, first rules first.
 */
export function factsOf(reads: readonly PathRead[], scope: Scope, maxBytes: number): JsonObject | undefined {
  // The names are paths: each begins with its group and a dot, and none is that of anything inherited.
  const facts: Record<string, Json> = {};
  let atMost = 0;
  for (const { path } of reads) {
    const value = scope.valueOf(path);
    if (value === undefined || value === UNRESOLVED) continue;
    facts[path.text] = value;
    atMost += boundOn(path.text) + boundOn(value);
  }
  if (atMost === 0) return undefined;
  return atMost <= maxBytes ? facts : toFit(facts, maxBytes);
}

/** Bytes that a value can take as JSON, with what stands around it. Measuring every value of every decision would cost more than deciding. */
function boundOn(value: Json): number {
  // An escaped character takes six bytes, any other three at most; the longest number takes 24.
  if (typeof value === 'string') return value.length * 6 + 4;
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 24;
}

function toFit(all: JsonObject, maxBytes: number): JsonObject {
  const facts: Record<string, Json> = {};
  let left = maxBytes;
  for (const [name, value] of Object.entries(all)) {
    const nameBytes = Buffer.byteLength(name) + 4;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const keeps = nameBytes + bytes <= left;
    left -= nameBytes + (keeps ? bytes : MARKER_BYTES);
    if (left < 0) {
      facts[THE_REST] = NOT_KEPT;
      break;
    }
    facts[name] = keeps ? value : NOT_KEPT;
  }
  return facts;
}

/** What is not on the record but was the same then: the time zone, and what paths compare as. */
export interface FactsFrame {
  /** IANA name. */
  readonly timeZone: string;
  /** As of the scope that the decision was made in. */
  kindOf(path: Path): PathKind | undefined;
}

/** The scope of a past decision, as far as its entry tells it: the same rules decided in it give the same answer. */
export function scopeFromFacts(entry: AuditEntry, frame: FactsFrame): Scope {
  const facts = entry.facts ?? {};
  const isOpen = wasOpen(entry);
  const absent = ownValue(facts, THE_REST);

  return Object.freeze({
    now: Date.parse(entry.at),
    timeZone: frame.timeZone,
    kindOf: (path: Path) => frame.kindOf(path),
    valueOf(path: Path): Json | undefined | typeof UNRESOLVED {
      const kept = ownValue(facts, path.text);
      if (kept !== undefined) return kept;
      return isOpen && isOfRecord(path, frame) ? UNRESOLVED : absent;
    },
  });
}

/** Lists and exports were decided with the record open, and so were reads of no record in particular: a resource's schema. */
function wasOpen({ action, recordId }: AuditEntry): boolean {
  return action === 'list' || action === 'export' || (action === 'read' && recordId === undefined);
}

/** Whether a path leads into a field that records have; others are missing whether the record is open or not. */
function isOfRecord({ group, keys }: Path, frame: FactsFrame): boolean {
  const [field] = keys;
  if (group !== 'resource' || field === undefined) return false;
  return frame.kindOf({ group, keys: [field], text: `${group}.${field}` }) !== undefined;
}
