import { DEFAULT_PRIORITY, type Policy, type PolicyRule } from '../policies/index.ts';
import { areDisjoint } from './condition-leaves.ts';
import type { Finding, RuleFinding } from './finding.ts';
import { type ActiveAssignments, isExpired } from './lint-assignments.ts';
import { type LintContext, type LintedRule, lintedDefinitions } from './lint-subject.ts';
import { type IndexedRule, type RuleIndex, toIndexedRule } from './policy-index.ts';

/** Rules of the other effect that are told of one rule, and those that are looked at for it. */
const RIVALS_TOLD = 3;
const RIVALS_TRIED = 50;
/** Users up to whom a policy's users are looked at one by one; of more of them nothing is claimed. */
const USERS_TRIED = 200;

/**
 * What rules of a policy come to beside others: those that never decide, say what another says, or meet another of the
 * other effect in the same place of the order. By rule.
 */
export function lintOrder(
  policy: Policy,
  subjects: readonly LintedRule[],
  around: LintContext,
): ReadonlyMap<PolicyRule, readonly RuleFinding[]> {
  const own: Seat = { standing: around.standings.ofPolicy(policy), priority: DEFAULT_PRIORITY };
  const seats = seatsOf(policy, around);
  const closers = new Map(subjects.map(({ rule }) => [rule.id, closersOf(policy, rule, { own, seats })]));
  const isIdle = (rule: PolicyRule): boolean => (closers.get(rule.id)?.length ?? 0) > 0;
  return new Map(
    subjects.map((subject) => {
      const found = closers.get(subject.rule.id) ?? [];
      const closer = found.find(({ stored }) => stored.effect !== subject.rule.effect) ?? found[0];
      if (closer !== undefined) return [subject.rule, [remarkOnIdle(subject, closer)]];
      const all = [own, ...(seats ?? [])];
      return [subject.rule, [...remarkOnTwins(subject, all), ...remarkOnRivals(subject, all, isIdle)]];
    }),
  );
}

/** Where a policy applies: the rules that it stands among, and the priority of the assignment that puts it there. */
interface Seat {
  readonly standing: RuleIndex;
  readonly priority: number;
}

/**
 * Every place where an active policy applies; undefined where that is nowhere, or where there are too many to look at. A user
 * to whom it comes by a role of higher priority too is looked at in the role's place.
 */
function seatsOf(policy: Policy, { standings, assignments, grantsOf }: LintContext): readonly Seat[] | undefined {
  const users = usersToCompare(policy, assignments, standings.now);
  if (users === undefined || assignments.roles.length + users.length === 0) return undefined;
  return [
    ...assignments.roles.map(({ role, priority }) => ({ standing: standings.ofRole(role), priority })),
    ...users.map((userId) => ({ standing: standings.ofUser(userId, grantsOf(userId)), priority: DEFAULT_PRIORITY })),
  ];
}

/** The users that advice on a policy looks at one by one, by what else they are assigned; undefined where it looks at nobody. */
export function usersToCompare(policy: Policy, { users, all }: ActiveAssignments, now: number): readonly string[] | undefined {
  const lasting = users.filter((assignment) => !isExpired(assignment, now));
  return policy.isActive && all && lasting.length <= USERS_TRIED ? lasting.map(({ userId }) => userId) : undefined;
}

interface Seats {
  readonly own: Seat;
  readonly seats: readonly Seat[] | undefined;
}

/** The rules that keep a rule from ever deciding: one of its own policy, or one in every place where it applies. Empty where it may decide. */
function closersOf(policy: Policy, rule: PolicyRule, { own, seats }: Seats): readonly IndexedRule[] {
  const closerIn = ({ standing, priority }: Seat) => standing.closerOf(toIndexedRule(policy, rule, priority));
  const inOwn = closerIn(own);
  if (inOwn !== undefined) return [inOwn];
  const found: IndexedRule[] = [];
  for (const seat of seats ?? []) {
    const closer = closerIn(seat);
    if (closer === undefined) return [];
    found.push(closer);
  }
  return found;
}

function remarkOnIdle({ policy, rule }: LintedRule, closer: IndexedRule): RuleFinding {
  const { effect, priority } = closer.stored;
  const why = `${nameOf(closer)} has no conditions and goes before this ${rule.effect} wherever it applies`;
  const remark = { member: '', other: toOther(closer) };
  // A rule of another policy may be a lock for an hour: what it idles meanwhile had better not be deleted.
  const when = closer.policy.id === policy.id ? '' : 'where that rule is there to stay: ';
  if (effect !== rule.effect) {
    const todo = `${when}delete this one, give it a higher priority than ${priority}, or put conditions on the ${effect}`;
    return { ...remark, code: 'never-fires', detail: `the rule never fires: ${why}`, todo };
  }
  if (isSame(rule, closer.stored)) return { ...remark, ...duplicateOf(closer) };
  const detail = `the rule changes nothing: ${why}, to the same effect`;
  return { ...remark, code: 'redundant', detail, todo: `${when}delete this one` };
}

/** Both without conditions: what they are about is all they say. */
function isSame(rule: PolicyRule, other: PolicyRule): boolean {
  return rule.conditions.length === 0 && rule.resource === other.resource && rule.action === other.action;
}

function duplicateOf(other: IndexedRule): Pick<RuleFinding, 'code' | 'detail' | 'todo'> {
  return { code: 'duplicate', detail: `${nameOf(other)} says the same`, todo: 'keep one of the two' };
}

function remarkOnTwins({ policy, rule, around }: LintedRule, seats: readonly Seat[]): readonly RuleFinding[] {
  for (const { standing, priority } of seats) {
    const [first, second] = standing.twinsOf(toIndexedRule(policy, rule, priority));
    const isFirst = first === undefined || first.stored.id === rule.id;
    const other = isFirst ? second : first;
    // Of two in one policy, the second is told of the first.
    const isTold = !isFirst || (around.alone === true && other?.policy.id !== policy.id);
    if (other !== undefined && isTold) return [{ ...duplicateOf(other), member: '', other: toOther(other) }];
  }
  return [];
}

/** The ALLOW loses, so it is told; where only the other policy is looked at, the DENY is. */
function remarkOnRivals(subject: LintedRule, seats: readonly Seat[], isIdle: (rule: PolicyRule) => boolean): readonly RuleFinding[] {
  const { policy, rule, around } = subject;
  const told = new Map<string, RuleFinding>();
  let tried = 0;
  for (const { standing, priority } of seats) {
    const placed = toIndexedRule(policy, rule, priority);
    if (standing.closerOf(placed) !== undefined) continue;
    for (const rival of standing.rivalsOf(placed)) {
      if (told.size === RIVALS_TOLD || tried++ === RIVALS_TRIED) return [...told.values()];
      const isTold = rule.effect === 'ALLOW' || (around.alone === true && rival.policy.id !== policy.id);
      if (!isTold || told.has(rival.stored.id) || standing.closerOf(rival) !== undefined || isIdle(rival.stored)) continue;
      if (!areApart(subject, rival)) told.set(rival.stored.id, remarkOnRival(rule, rival));
    }
  }
  return [...told.values()];
}

function areApart(subject: LintedRule, rival: IndexedRule): boolean {
  const { compiled, around } = subject;
  const known = { definitions: lintedDefinitions(subject), now: around.standings.now };
  const other = around.standings.compiled(rival);
  return compiled.effect === 'ALLOW' ? areDisjoint(compiled, other, known) : areDisjoint(other, compiled, known);
}

function remarkOnRival(rule: PolicyRule, rival: IndexedRule): RuleFinding {
  const order = rule.effect === 'ALLOW' ? 'where both fire, that DENY goes first' : 'where both fire, this DENY goes first';
  return {
    code: 'conflict',
    member: '',
    detail: `${nameOf(rival)} is a ${rival.stored.effect} of the same priorities as this ${rule.effect}: ${order}`,
    todo: 'give one of the two a higher priority, so that the order is said',
    other: toOther(rival),
  };
}

function nameOf({ stored, policy }: IndexedRule): string {
  return `rule "${stored.description ?? stored.id}" of policy "${policy.name}"`;
}

function toOther({ stored: { id, description }, policy }: IndexedRule): NonNullable<Finding['other']> {
  return { rule: { id, description }, policy: { id: policy.id, name: policy.name } };
}
