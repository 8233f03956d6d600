import { DECIDED_ON_RECORD, SELECTS_RECORDS } from '../actions.ts';
import type { Decision } from '../authz/decision/index.ts';
import { type ApplicableRules, isSameRank, type PathRead } from '../authz/policies/index.ts';
import { type Path, type PathKind, type Scope, UNRESOLVED } from '../conditions/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { Definitions } from '../resources/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { relatedFromFacts } from './related-facts.ts';

/** Replaces a value that was too long to store. No operator compares it, so conditions that read it are unknown. */
const NOT_KEPT: JsonObject = Object.freeze({ notKept: true });
/** The name under which `NOT_KEPT` replaces all further paths. No path has this name. */
const FURTHER_PATHS = '*';
const MARKER_BYTES = JSON.stringify(NOT_KEPT).length;

/**
 * Returns the paths whose values are needed to explain a decision later. For an allowed request, these are the paths that are
 * read by the rule that fired, by the rules before it, and by the rules of the same rank. For a denied request, these are all paths, because
 * the explanation covers every rule.
 */
export function readsToExplain({ ranked, rules, reads }: ApplicableRules, decision: Decision): readonly PathRead[] {
  const fired = decision.effect === 'allow' ? rules.indexOf(decision.rule) : -1;
  const rank = ranked[fired];
  if (rank === undefined) return reads;
  let count = fired + 1;
  for (let next = ranked[count]; next !== undefined && isSameRank(next, rank); next = ranked[count]) count++;
  return count === rules.length ? reads : reads.filter(({ first }) => first < count);
}

/** Options of `factsOf`. */
export interface FactsOptions {
  /** Maximum size of the facts as JSON. Values that do not fit are replaced by `{ "notKept": true }`; the values that earlier rules read are kept first. */
  readonly maxBytes: number;
  /** The related records by `relatedName`; undefined for those that are not kept. */
  readonly related?: ReadonlyMap<string, Json | undefined> | undefined;
}

const NO_RELATED: ReadonlyMap<string, Json | undefined> = new Map();

/**
 * Returns the values that conditions read, by path, so that the decision can be explained later. Missing values are omitted. A scope
 * contains no secret fields, so the facts contain none either.
 */
export function factsOf(
  reads: readonly PathRead[],
  scope: Scope,
  { maxBytes, related = NO_RELATED }: FactsOptions,
): JsonObject | undefined {
  // A path begins with its group and a dot, so no path is the name of an inherited property.
  const facts: Record<string, Json> = {};
  let maxSize = 0;
  for (const { path } of reads) {
    const value = scope.valueOf(path);
    if (value === undefined || value === UNRESOLVED) continue;
    facts[path.text] = value;
    maxSize += maxBytesOf(path.text) + maxBytesOf(value);
  }
  for (const [name, value = NOT_KEPT] of related) {
    facts[name] = value;
    maxSize += maxBytesOf(name) + maxBytesOf(value);
  }
  if (maxSize === 0) return undefined;
  return maxSize <= maxBytes ? facts : truncateFacts(facts, maxBytes);
}

/** Returns an upper bound of the bytes of a value as JSON. Measuring every value exactly would take longer than the decision. */
function maxBytesOf(value: Json): number {
  // An escaped character takes six bytes, any other at most three; the longest number takes 24.
  if (typeof value === 'string') return value.length * 6 + 4;
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 24;
}

function truncateFacts(all: JsonObject, maxBytes: number): JsonObject {
  const facts: Record<string, Json> = {};
  let left = maxBytes;
  for (const [name, value] of Object.entries(all)) {
    const nameBytes = Buffer.byteLength(name) + 4;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const fits = nameBytes + bytes <= left;
    left -= nameBytes + (fits ? bytes : MARKER_BYTES);
    if (left < 0) {
      facts[FURTHER_PATHS] = NOT_KEPT;
      break;
    }
    facts[name] = fits ? value : NOT_KEPT;
  }
  return facts;
}

/**
 * Returns the stored value of a path: undefined if the entry has none, UNRESOLVED if the value or all further paths were replaced because they
 * were too long.
 */
export function storedValue(facts: JsonObject, path: Path): Json | undefined | typeof UNRESOLVED {
  const own = ownValue(facts, path.text);
  const stored = own === undefined ? ownValue(facts, FURTHER_PATHS) : own;
  return isMarker(stored) ? UNRESOLVED : stored;
}

function isMarker(value: Json | undefined): boolean {
  return isObject(value) && ownValue(value, 'notKept') === true && Object.keys(value).length === 1;
}

/** The parts of a scope that audit entries do not store. */
export interface FactsFrame {
  /** The present definitions. They give the kinds of the values of related records. */
  readonly definitions: Definitions;
  /** IANA name. */
  readonly timeZone: string;
  /** Returns the kind of a path, as in the scope of the decision. */
  kindOf(path: Path): PathKind | undefined;
}

/** Restores the scope of a past decision from its audit entry. In this scope, the same rules give the same decision. */
export function scopeFromFacts(entry: AuditEntry, frame: FactsFrame): Scope {
  const facts = entry.facts ?? {};
  const isOpen = wasOpen(entry);
  const absent = ownValue(facts, FURTHER_PATHS);

  return Object.freeze({
    now: Date.parse(entry.at),
    timeZone: frame.timeZone,
    kindOf: (path: Path) => frame.kindOf(path),
    related: relatedFromFacts(facts, frame.definitions, { areOfDecision: true }),
    valueOf(path: Path): Json | undefined | typeof UNRESOLVED {
      const stored = ownValue(facts, path.text);
      if (stored !== undefined) return stored;
      return isOpen && isOfRecord(path, frame) ? UNRESOLVED : absent;
    },
  });
}

/**
 * Returns true if an entry is of a decision without a record: on a list, an export, the read of a schema, the record that an `updateIfExists`
 * may find, or the list of soft-deleted records.
 */
export function wasOpen({ action, recordId }: Pick<AuditEntry, 'action' | 'recordId'>): boolean {
  return SELECTS_RECORDS.has(action) || (DECIDED_ON_RECORD.has(action) && recordId === undefined);
}

/** Returns true if a path begins with a field of the resource. Other paths without a stored value have none, even if the record was unknown. */
export function isOfRecord({ group, keys }: Path, frame: Pick<FactsFrame, 'kindOf'>): boolean {
  const [field] = keys;
  if (group !== 'resource' || field === undefined) return false;
  return frame.kindOf({ group, keys: [field], text: `${group}.${field}` }) !== undefined;
}
