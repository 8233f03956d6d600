/**
 * The values of a past decision, with which it is decided again under other policies. An audit entry keeps only the values that its decision
 * read. A value that was not kept is UNRESOLVED, so that `decide` concludes only if the decision does not depend on it.
 */
import { SELECTS_RECORDS, SENDS_DATA } from '../actions.ts';
import { createScope, toEnvironmentValue } from '../authz/context/index.ts';
import { isConditionalReason } from '../authz/decision/index.ts';
import type { ApplicableRules } from '../authz/policies/index.ts';
import { type Path, type PathKind, type RelatedLookup, type Scope, UNRESOLVED } from '../conditions/index.ts';
import type { Json } from '../operators/index.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import { MAX_ENTRY_TEXT } from './append-entries.ts';
import type { AuditEntry } from './audit-entry.ts';
import { isOfRecord, readsToExplain, storedValue, wasOpen } from './entry-facts.ts';
import { isLocalTime, isZonedPath } from './entry-time-zones.ts';
import { relatedFromFacts } from './related-facts.ts';
import { changesOf } from './update-changes.ts';

type Value = Json | undefined | typeof UNRESOLVED;

/** The present definitions, with which the entries of one resource are decided again. */
export interface ReplayFrame {
  readonly definitions: Definitions;
  readonly resource: Resource;
  kindOf(path: Path): PathKind | undefined;
}

/** Creates the frame of the entries of a resource. */
export function createReplayFrame(resource: Resource, definitions: Definitions): ReplayFrame {
  const { kindOf } = createScope({
    principal: { role: '', attributes: {} },
    action: 'read',
    resource,
    record: undefined,
    origin: { method: '', path: '', ip: '' },
    now: 0,
    timeZone: NO_ZONE,
    definitions,
  });
  return { definitions, resource, kindOf };
}

/** The time zone of scopes in which no value depends on it. */
const NO_ZONE = 'UTC';

/** Knowledge of a past decision, in addition to the values in its entry. */
export interface ReplayKnowledge {
  /** IANA name of the time zone of the decision. If it is not known, values that depend on it are not known either. */
  readonly timeZone?: string | undefined;
  /** The rules to decide with, whose comparisons may depend on the time zone. Default: none. */
  readonly rules?: readonly ApplicableRules[] | undefined;
  /** The paths whose values the entry would contain. Such a path without a value had none. Default: no paths. */
  readonly recorded?: ReadonlySet<string> | undefined;
  /** Returns a substitute for a value that was not kept; UNRESOLVED if there is none. */
  fill?(path: Path): Value;
}

/** The scope of a decision that is decided again. */
export interface ReplayScope extends Scope {
  /** Returns true if the value of a path is not known. The fields of a record that the decision itself did not know are not meant. */
  isUnkept(path: Path): boolean;
  /** Returns true if an update that the entry records would change the value of a path. */
  isChanged(path: Path): boolean;
  /**
   * Returns the value of a path in the other state of an updated record: before the change if the entry has the values after it, or after the
   * change if it has those before it.
   */
  otherValueOf(path: Path): Json | undefined | typeof UNRESOLVED;
  /** The related records and ancestors in that state. Those that may differ are UNRESOLVED. */
  readonly otherRelated: RelatedLookup;
  /** Paths that `fill` has given a value. */
  readonly filled: ReadonlySet<string>;
}

/** Returns the paths whose values an entry contains, given the rules that applied to its decision. */
export function recordedPaths(entry: AuditEntry, applicable: ApplicableRules): ReadonlySet<string> {
  const { allowed, ruleId, reason } = entry;
  const rule = applicable.rules.find(({ id }) => id === ruleId);
  // Other rules have decided: policies were damaged, or this program selects other rules.
  if (rule === undefined && ruleId !== undefined) return new Set();
  const isUnconditional = allowed && rule !== undefined && !isConditionalReason(reason);
  const reads = readsToExplain(applicable, isUnconditional ? { effect: 'allow', rule, reason } : { effect: 'deny', reason });
  return new Set(reads.map(({ path }) => path.text));
}

/** Creates the scope in which an entry is decided again. */
export function createReplayScope(entry: AuditEntry, frame: ReplayFrame, known: ReplayKnowledge = {}): ReplayScope {
  const facts = entry.facts ?? {};
  const isOpen = hadUnknownRecord(entry);
  const filled = new Set<string>();
  const { isChanged, withoutChanged } = changesOf(entry, frame);
  const related = relatedFromFacts(facts, frame.definitions, { areOfDecision: false });
  // The entry has the values of a record that was never stored. The stored record has those before the change.
  const isOfUnstored = facts['changedRecord'] === true;
  const isOpenPath = (path: Path): boolean => isOpen && isOfRecord(path, frame);
  const { timeZone, rules = [] } = known;
  // A date is the same day in every time zone.
  const isUnzoned = (path: Path): boolean =>
    timeZone === undefined && rules.some((applicable) => isZonedPath(applicable, path)) && frame.kindOf(path)?.kind !== 'date';

  function read(path: Path): Value {
    const stored = storedValue(facts, path);
    const isStored = stored !== undefined && stored !== UNRESOLVED;
    const value = isStored ? stored : deriveValue(path, entry, { resource: frame.resource, timeZone });
    if (value === undefined || (!isStored && isOpenPath(path))) return value;
    if (isUnzoned(path)) return UNRESOLVED;
    if (value !== UNRESOLVED) return value;
    if (stored === undefined && known.recorded?.has(path.text) === true) return undefined;
    return isOfUnstored && isChanged(path) ? UNRESOLVED : fill(path);
  }

  function fill(path: Path): Value {
    const substitute = known.fill === undefined ? UNRESOLVED : known.fill(path);
    if (substitute !== UNRESOLVED) filled.add(path.text);
    return substitute;
  }

  return {
    now: Date.parse(entry.at),
    timeZone: timeZone ?? NO_ZONE,
    kindOf: frame.kindOf,
    kindsFrom: frame,
    related,
    valueOf: read,
    isUnkept: (path) => !isOpenPath(path) && read(path) === UNRESOLVED,
    isChanged,
    otherValueOf: (path) => (!isChanged(path) ? read(path) : isOfUnstored ? fill(path) : UNRESOLVED),
    otherRelated: withoutChanged(related),
    filled,
  };
}

/** Returns true if the decision of an entry did not know the record. An entry of repeated denials names no record in any case. */
export function hadUnknownRecord(entry: AuditEntry): boolean {
  return wasOpen(entry) && (entry.kind !== 'repeat' || SELECTS_RECORDS.has(entry.action));
}

/** Returns true if the caller or the record of an entry may be a part of a longer text. */
export function isCutOff({ userId, role, resource, action, recordId }: AuditEntry): boolean {
  return [userId, role, resource, action, recordId].some((text) => text !== undefined && text.length >= MAX_ENTRY_TEXT);
}

interface DerivedFrom {
  readonly resource: Resource;
  readonly timeZone: string | undefined;
}

/** Returns the value of a path that follows from the other members of an entry: undefined if it had none, UNRESOLVED if it does not follow. */
function deriveValue(path: Path, entry: AuditEntry, { resource, timeZone }: DerivedFrom): Value {
  const {
    group,
    keys: [key = '', ...inner],
  } = path;
  switch (group) {
    case 'user':
      if (inner.length === 0 && key === 'role') return entry.role;
      // A caller without a token has no attributes.
      if (entry.userId === undefined) return undefined;
      return inner.length === 0 && key === 'id' ? entry.userId : UNRESOLVED;
    case 'resource':
      return deriveRecordValue(key, inner, { entry, resource });
    case 'environment':
      if (entry.kind === 'repeat' || (timeZone === undefined && isLocalTime(path))) return UNRESOLVED;
      return inner.length > 0
        ? undefined
        : toEnvironmentValue(key, { now: Date.parse(entry.at), timeZone: timeZone ?? NO_ZONE, ip: entry.ip });
    case 'request':
      return deriveRequestValue(key, entry);
    case 'related':
      return UNRESOLVED;
  }
}

function deriveRecordValue(
  key: string,
  inner: readonly string[],
  { entry, resource }: { readonly entry: AuditEntry; readonly resource: Resource },
): Value {
  const field = resource.fields.get(key);
  if (inner.length === 0 && key === 'id' && entry.recordId !== undefined) return entry.recordId;
  if (field !== undefined) return field.writeOnly ? undefined : UNRESOLVED;
  return inner.length === 0 && key === 'name' ? resource.name : undefined;
}

function deriveRequestValue(key: string, { kind, action, ip }: AuditEntry): Value {
  switch (key) {
    case 'action':
      return action;
    case 'ip':
      return kind === 'repeat' ? UNRESOLVED : ip;
    case 'data':
      return SENDS_DATA.has(action) ? UNRESOLVED : undefined;
    case 'method':
    case 'path':
      return UNRESOLVED;
    default:
      return undefined;
  }
}
