/** Takes single rules of a past version of a policy back into the draft. */
import type { Policy, PolicyDifference } from '../../api/policies.ts';
import { isRecord } from '../../components/condition/condition-json.ts';
import { type DraftJson, isSame, rulesOf, toDraftRule } from './policy-draft.ts';

/** A change of the draft that gives one rule the state of a past version. */
export interface RuleRestoration {
  readonly ruleId: string;
  /** `remove` if the version does not have the rule. */
  readonly kind: 'restore' | 'remove';
}

/**
 * Returns the restorations of the differences between a past version and the current one: one for each rule, at its first difference. A rule
 * that has another id in the past version has none, and neither have rules that only moved.
 */
export function findRestorations(
  differences: readonly PolicyDifference[],
  past: Pick<Policy, 'rules'>,
): ReadonlyMap<PolicyDifference, RuleRestoration> {
  const known = new Set(past.rules.map(({ id }) => id));
  const found = new Map<PolicyDifference, RuleRestoration>();
  const offered = new Set<string>();
  for (const difference of differences) {
    const { ruleId, kind, path } = difference;
    if (ruleId === undefined || kind === 'moved' || offered.has(ruleId)) continue;
    const isNew = kind === 'added' && /^rules\.\d+$/.test(path);
    if (!isNew && !known.has(ruleId)) continue;
    offered.add(ruleId);
    found.set(difference, { ruleId, kind: isNew ? 'remove' : 'restore' });
  }
  return found;
}

/** A draft, and the index of the rule that was restored; undefined if it was removed. */
export interface RestoredRule {
  readonly draft: DraftJson;
  readonly index: number | undefined;
}

/** Restores a rule in a draft. A rule that the draft does not have is added at its former place, without its id: ids name present rules only. */
export function restoreRule(draft: DraftJson, past: Pick<Policy, 'rules'>, { ruleId, kind }: RuleRestoration): RestoredRule {
  const rules = rulesOf(draft) ?? [];
  const at = rules.findIndex((rule) => isRecord(rule) && rule['id'] === ruleId);
  if (kind === 'remove') return { draft: { ...draft, rules: rules.filter((_, index) => index !== at) }, index: undefined };
  const place = past.rules.findIndex(({ id }) => id === ruleId);
  const former = past.rules[place];
  if (former === undefined) return { draft, index: undefined };
  const restored = toDraftRule(former);
  if (at !== -1) return { draft: { ...draft, rules: rules.with(at, restored) }, index: at };
  const { id: _, ...added } = restored;
  const same = rules.findIndex((rule) => isSame(rule, added));
  if (same !== -1) return { draft, index: same };
  const index = Math.min(place, rules.length);
  return { draft: { ...draft, rules: rules.toSpliced(index, 0, added) }, index };
}
