/** Decides past requests again under other policies, and compares the decisions. */
import { type DecideOptions, type Decision, decide } from '../authz/decision/index.ts';
import type { ApplicableRules, CompiledRule } from '../authz/policies/index.ts';
import { conditionKey, conditionPaths, type Path, relatedIn, someIn, UNRESOLVED, withinIn } from '../conditions/index.ts';
import { memoize } from '../memoize.ts';
import type { AuditEntry } from './audit-entry.ts';
import { hadUnknownRecord, type ReplayScope } from './replay-facts.ts';

/** A past request that is decided again. */
export interface Replay {
  /** The decision with the values of the entry. Its condition contains the values that were not kept. */
  readonly decision: Decision;
  /**
   * For an update that this decision allows: the decision on the record before or after the change. The entry has the values of one of the
   * two; those of the changed fields are unknown for the other.
   */
  readonly other?: Decision;
  /** The outcome of the request; `conditional` if the record was unknown and must meet a condition, `unknown` if it depends on a value that was not kept. */
  readonly effect: 'allow' | 'deny' | 'conditional' | 'unknown';
  /** The paths without a kept value on which an unknown outcome depends. */
  readonly missing: readonly string[];
}

/** Decides the request of an entry again, with rules that apply to it. */
export function replayEntry(entry: AuditEntry, applicable: ApplicableRules, scope: ReplayScope): Replay {
  const who = { userId: entry.userId, role: entry.role };
  const decision = decide(applicable, scope, who);
  const missing = unkeptPaths(decision, scope, hadUnknownRecord(entry));
  if (hadUnknownRecord(entry)) {
    const effect = missing.length > 0 ? 'unknown' : decision.effect === 'allow-where' ? 'conditional' : decision.effect;
    return { decision, effect, missing };
  }
  if (decision.effect === 'deny' || entry.action !== 'update') {
    return { decision, effect: decision.effect === 'allow-where' ? 'unknown' : decision.effect, missing };
  }
  return withOtherState({ decision, missing }, { applicable, scope, who });
}

interface UpdateInput {
  readonly applicable: ApplicableRules;
  readonly scope: ReplayScope;
  readonly who: DecideOptions;
}

/** Adds the decision on the other state of an updated record, in which the values of the given fields were not kept. */
function withOtherState(first: Pick<Replay, 'decision' | 'missing'>, { applicable, scope, who }: UpdateInput): Replay {
  const isSame = !applicable.countsRelated && !applicable.reads.some(({ path }) => scope.isChanged(path));
  const otherScope = { ...scope, valueOf: scope.otherValueOf, related: scope.otherRelated };
  const other = isSame ? first.decision : decide(applicable, otherScope, who);
  if (other.effect === 'deny') return { ...first, other, effect: 'deny', missing: [] };
  if (other.effect === 'allow' && first.decision.effect === 'allow') return { ...first, other, effect: 'allow' };
  const isUnkept = (path: Path) => scope.otherValueOf(path) === UNRESOLVED;
  return { ...first, other, effect: 'unknown', missing: [...new Set([...first.missing, ...unkeptPaths(other, { isUnkept })])] };
}

function unkeptPaths(decision: Decision, { isUnkept }: Pick<ReplayScope, 'isUnkept'>, isOpen: boolean = false): readonly string[] {
  if (decision.effect !== 'allow-where') return [];
  const paths = conditionPaths(decision.where)
    .filter(isUnkept)
    .map(({ text }) => text);
  // The records that depend on an unknown record were not counted in the recorded decision either.
  const uncounted = relatedIn(decision.where).filter(({ on }) => !isOpen || on.every(({ operand }) => operand.type === 'literal'));
  // The ancestors of an unknown record were not compared either.
  const uncompared = withinIn(decision.where).filter(({ path: { group } }) => !isOpen || group === 'user');
  const unread = someIn(decision.where).filter(({ path: { group } }) => !isOpen || group === 'user');
  return [
    ...new Set([
      ...paths,
      ...uncounted.map(({ resource }) => `related ${resource}`),
      ...unread.map(({ path }) => `records of ${path.text}`),
      ...uncompared.map(({ path }) => `ancestors of ${path.text}`),
    ]),
  ];
}

/**
 * Returns the replay under the rules that have decided an entry. Where it depends on a value that was not kept, its outcome is the recorded one.
 * The condition of a recorded list is not stored, so only a denied list has a known outcome.
 */
export function withRecordedOutcome(replay: Replay, entry: AuditEntry): Replay {
  if (replay.effect !== 'unknown' || (entry.allowed && hadUnknownRecord(entry))) return replay;
  return { ...replay, effect: entry.allowed ? 'allow' : 'deny', missing: [] };
}

/** The comparison of two decisions on a past request. */
export type ReplayChange = 'same' | 'allowToDeny' | 'denyToAllow' | 'changed' | 'unknown';

/**
 * Compares two replays of an entry. They are the same if the outcomes are equal, or if both depend on unknown values by the same conditions.
 * Two conditional outcomes with different conditions are `changed`.
 */
export function compareReplays(before: Replay, after: Replay): ReplayChange {
  if (isSameReplay(before, after)) return 'same';
  if (before.effect === 'unknown' || after.effect === 'unknown') return 'unknown';
  if (before.effect === 'deny') return 'denyToAllow';
  return after.effect === 'deny' ? 'allowToDeny' : 'changed';
}

function isSameReplay(before: Replay, after: Replay): boolean {
  if (before.effect !== after.effect) return false;
  if (before.effect === 'allow' || before.effect === 'deny') return true;
  return isSameDecision(before.decision, after.decision) && isSameDecision(before.other, after.other);
}

function isSameDecision(a: Decision | undefined, b: Decision | undefined): boolean {
  if (a?.effect !== b?.effect) return false;
  return a?.effect !== 'allow-where' || b?.effect !== 'allow-where' || conditionKey(a.where) === conditionKey(b.where);
}

const sameRules = new WeakMap<readonly CompiledRule[], WeakMap<readonly CompiledRule[], boolean>>();

/** Returns true if two lists have the same rules in the same order, so that they decide every request alike. */
export function hasSameRules({ rules: a }: ApplicableRules, { rules: b }: ApplicableRules): boolean {
  if (a === b) return true;
  const known = memoize(sameRules, a, () => new WeakMap<readonly CompiledRule[], boolean>());
  return memoize(known, b, () => a.length === b.length && a.every((rule, index) => rule === b[index]));
}
