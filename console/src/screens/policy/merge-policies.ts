/** Merges two changes of a policy that were made at the same time: members and rules that only one of them changed are merged by themselves. */
import { isRecord } from '../../components/condition/condition-json.ts';
import { type DraftJson, isSame, rulesOf, textOf } from './policy-draft.ts';

/** The versions of a member. A rule that a version does not have is undefined. */
interface Versions {
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** A member or rule that both changes changed, in different ways. */
export interface Conflict extends Versions {
  /** The name of the member, or `rule` and its id. */
  readonly key: string;
  /** The member, or the rule. */
  readonly subject: 'member' | 'rule';
}

/** The result of a merge. */
export interface PolicyMerge {
  readonly conflicts: readonly Conflict[];
  /** Number of members and rules that only the other admin changed, and which are merged without a question. */
  readonly takenOver: number;
  /** Returns the merged draft. Conflicts that are not chosen keep my version. */
  resolve(chosen: ReadonlyMap<string, 'mine' | 'theirs'>): DraftJson;
}

interface ThreeDrafts {
  readonly base: DraftJson;
  readonly mine: DraftJson;
  readonly theirs: DraftJson;
}

/** Compares three versions of a policy: the common one, mine and that of the other admin. */
export function mergePolicies(drafts: ThreeDrafts): PolicyMerge {
  const { base, mine, theirs } = drafts;
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((name) => name !== 'rules');
  const members: readonly Conflict[] = names.map((name) => ({
    key: name,
    subject: 'member',
    base: base[name],
    mine: mine[name],
    theirs: theirs[name],
  }));
  const rules = ruleVersions(drafts);
  const all = [...members, ...rules];
  const conflicts = all.filter((versions) => outcomeOf(versions) === 'conflict');
  return {
    conflicts,
    takenOver: all.filter((versions) => outcomeOf(versions) === 'theirs' && !isSame(versions.mine, versions.theirs)).length,
    resolve: (chosen) => resolve({ members, rules, added: newRules(drafts) }, chosen),
  };
}

/** Returns the version that a merge takes by itself: the changed one, or mine if both are equal. */
function outcomeOf({ base, mine, theirs }: Versions): 'mine' | 'theirs' | 'conflict' {
  if (isSame(mine, theirs) || isSame(base, theirs)) return 'mine';
  return isSame(base, mine) ? 'theirs' : 'conflict';
}

/** Returns the versions of each rule that has an id, in the order of mine. Rules that only the other admin has follow. */
function ruleVersions({ base, mine, theirs }: ThreeDrafts): readonly Conflict[] {
  const [ofBase, ofMine, ofTheirs] = [base, mine, theirs].map(rulesById);
  const ids = new Set([...(ofMine?.keys() ?? []), ...(ofTheirs?.keys() ?? [])]);
  return [...ids].map((id) => ({
    key: `rule ${id}`,
    subject: 'rule',
    base: ofBase?.get(id),
    mine: ofMine?.get(id),
    theirs: ofTheirs?.get(id),
  }));
}

function rulesById(draft: DraftJson): ReadonlyMap<string, unknown> {
  const rules = rulesOf(draft) ?? [];
  return new Map(rules.flatMap((rule) => (isRecord(rule) && textOf(rule, 'id') !== '' ? [[textOf(rule, 'id'), rule] as const] : [])));
}

/** Returns the rules that I have added: they have no id yet. */
function newRules({ mine }: ThreeDrafts): readonly unknown[] {
  return (rulesOf(mine) ?? []).filter((rule) => !isRecord(rule) || textOf(rule, 'id') === '');
}

interface Parts {
  readonly members: readonly Conflict[];
  readonly rules: readonly Conflict[];
  readonly added: readonly unknown[];
}

function resolve({ members, rules, added }: Parts, chosen: ReadonlyMap<string, 'mine' | 'theirs'>): DraftJson {
  const mergedValue = (versions: Conflict): unknown => {
    const outcome = outcomeOf(versions);
    return versions[outcome === 'conflict' ? (chosen.get(versions.key) ?? 'mine') : outcome];
  };
  const own = members.flatMap((member) => {
    const value = mergedValue(member);
    return value === undefined ? [] : [[member.key, value] as const];
  });
  const kept = rules.map(mergedValue).filter((rule) => rule !== undefined);
  return { ...Object.fromEntries(own), rules: [...kept, ...added] };
}
