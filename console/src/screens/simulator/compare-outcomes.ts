/** The part of a tested decision that a draft can change. */
export interface TestedDecision {
  readonly allowed: boolean;
  /** True if the decision depends on what the question does not say. */
  readonly conditional?: boolean;
  /** The id of the deciding rule. */
  readonly matchedRule: string | null;
  /** The condition of a conditional decision. */
  readonly when?: string;
}

/** The difference between two decisions on the same request. */
export type Difference = 'same' | 'allows' | 'denies' | 'condition' | 'rule';

/** Compares the decision in force with that under a draft: the verdict first, then its condition, then the rule that decides. */
export function compareOutcomes(live: TestedDecision, draft: TestedDecision): Difference {
  const isOpen = (outcome: TestedDecision): boolean => outcome.conditional === true;
  if (isOpen(live) || isOpen(draft)) {
    if (!isOpen(live) && !live.allowed) return 'allows';
    if (!isOpen(draft)) return draft.allowed ? 'allows' : 'denies';
    if (!isOpen(live) || live.when !== draft.when) return 'condition';
  } else if (live.allowed !== draft.allowed) return draft.allowed ? 'allows' : 'denies';
  return live.matchedRule === draft.matchedRule ? 'same' : 'rule';
}
