import type { Json, JsonObject } from '../../operators/index.ts';
import type { Policy, PolicyRule } from './policy.ts';
import { type ItemKey, matchLists } from './policy-diff-lists.ts';
import { findOrderChanges, type OrderChange, type RuleVersions } from './policy-diff-order.ts';
import { describeConditions, describeOrder, describeRule, nameRule, POLICY_WORDS, RULE_WORDS } from './policy-diff-words.ts';

/** The kinds of differences. */
export const DIFFERENCE_KINDS = ['added', 'removed', 'changed', 'moved'] as const;

/** A difference between two versions of a policy. */
export interface PolicyDifference {
  /** Dotted path of the member: in the older version if it was removed, else in the newer one. */
  readonly path: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** The value in the older version; for a moved item, its index there. Absent if it was added. */
  readonly before?: Json;
  /** The value in the newer version; for a moved item, its index there. Absent if it was removed. */
  readonly after?: Json;
  /** The id of the rule, if the difference is about a rule. */
  readonly ruleId?: string;
  /** A sentence that says what the difference means. */
  readonly meaning: string;
}

const POLICY_MEMBERS = [
  'name',
  'description',
  'type',
  'isActive',
  'priority',
  'file',
] as const satisfies readonly (keyof typeof POLICY_WORDS)[];
const RULE_MEMBERS = [
  'resource',
  'action',
  'effect',
  'priority',
  'description',
  'isActive',
] as const satisfies readonly (keyof typeof RULE_WORDS)[];

/** Rules match by their ids, then by their content, then by their descriptions. */
const RULE_KEYS: readonly ItemKey<PolicyRule>[] = [
  ({ id }) => id,
  (rule) => JSON.stringify(toRuleContent(rule)),
  ({ description }) => description,
];

/** Conditions match by their content, then by the field that they compare, or the kind of their group. */
const CONDITION_KEYS: readonly ItemKey<JsonObject>[] = [
  (condition) => JSON.stringify(condition),
  ({ field, ...members }) => (typeof field === 'string' ? `field ${field}` : Object.keys(members)[0]),
];

const TAG_KEYS: readonly ItemKey<string>[] = [(tag) => tag];

/**
 * Returns the differences between two versions of a policy. Ids and the members that the service sets are not compared: a rule that was
 * written again with the same content is the same rule.
 */
export function diffPolicies(from: Policy, to: Policy): readonly PolicyDifference[] {
  const members = POLICY_MEMBERS.flatMap((name) =>
    diffMember({ path: name, before: from[name], after: to[name] }, (values) => POLICY_WORDS[name](values)),
  );
  return [...members, ...diffTags(from, to), ...diffRules(from, to)];
}

/** Returns the members of a rule that an admin writes. */
function toRuleContent({ resource, action, effect, conditions, priority, description, isActive }: PolicyRule): JsonObject {
  return { resource, action, effect, conditions, priority, ...(description !== undefined && { description }), isActive };
}

/** Returns the members of a policy that an admin writes: a valid body to create it again, if the definitions are still the same. */
export function toPolicyContent({ name, description, type, isActive, priority, tags, rules }: Policy): JsonObject {
  const own = { name, ...(description !== undefined && { description }), type, isActive, priority };
  return { ...own, tags, rules: rules.map(toRuleContent) };
}

interface MemberValues {
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

type Described = Omit<PolicyDifference, 'ruleId'>;

function diffMember(values: MemberValues, describe: (values: MemberValues) => string): readonly Described[] {
  const { path, before, after } = values;
  if (before === after) return [];
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ path, kind, ...(before !== undefined && { before }), ...(after !== undefined && { after }), meaning: describe(values) }];
}

function diffTags({ tags: from }: Policy, { tags: to }: Policy): readonly PolicyDifference[] {
  const { removed, added, matched } = matchLists({ from, to }, TAG_KEYS);
  const nameOf = (tag: string | undefined): string => `the tag ${JSON.stringify(tag ?? '')}`;
  return [
    ...removed.map((index) => toRemoved(`tags.${index}`, from[index] ?? '', `${nameOf(from[index])} is removed`)),
    ...added.map((index) => toAdded(`tags.${index}`, to[index] ?? '', `${nameOf(to[index])} is added`)),
    ...matched.filter(({ isMoved }) => isMoved).map((item) => toMoved('tags', item, nameOf(to[item.to]))),
  ];
}

function diffRules(from: Policy, to: Policy): readonly PolicyDifference[] {
  const { removed, added, matched } = matchLists({ from: from.rules, to: to.rules }, RULE_KEYS);
  const removals = removed.flatMap((index) => {
    const rule = from.rules[index];
    return rule === undefined ? [] : [withRule(toRemoved(`rules.${index}`, toRuleContent(rule), describeRule(rule, 'removed')), rule)];
  });
  const additions = added.flatMap((index) => {
    const rule = to.rules[index];
    return rule === undefined ? [] : [withRule(toAdded(`rules.${index}`, toRuleContent(rule), describeRule(rule, 'added')), rule)];
  });
  const pairs = matched.flatMap((item) => {
    const [before, after] = [from.rules[item.from], to.rules[item.to]];
    return before === undefined || after === undefined ? [] : [{ item, before, after }];
  });
  const orders = findOrderChanges({ from, to, changed: pairs.filter(({ before, after }) => before.priority !== after.priority) });
  const changes = pairs.flatMap(({ item, before, after }) => {
    const moved = item.isMoved ? [toMoved('rules', item, nameRule(after))] : [];
    const changed = diffRule({ before, after, order: orders.get(after) }, item.to);
    return [...changed, ...moved].map((difference) => withRule(difference, after));
  });
  return [...removals, ...additions, ...changes];
}

interface ComparedRule extends RuleVersions {
  /** The rules that the rule has passed; absent if its priority is the same. */
  readonly order: OrderChange | undefined;
}

function diffRule({ before, after, order }: ComparedRule, index: number): readonly Described[] {
  const rule = nameRule(before);
  const members = RULE_MEMBERS.flatMap((name) =>
    diffMember({ path: `rules.${index}.${name}`, before: before[name], after: after[name] }, (values) => {
      const meaning = RULE_WORDS[name](values, rule);
      return name === 'priority' ? `${meaning}${describeOrder(order)}` : meaning;
    }),
  );
  return [...members, ...diffConditions({ before, after }, `rules.${index}.conditions`)];
}

function diffConditions({ before, after }: RuleVersions, path: string): readonly Described[] {
  const lists = { from: before.conditions, to: after.conditions };
  const { removed, added, matched } = matchLists(lists, CONDITION_KEYS);
  const rule = nameRule(before);
  const print = (condition: JsonObject): string => describeConditions([condition]);
  const at = (list: readonly JsonObject[], index: number): JsonObject => list[index] ?? {};
  const changed = matched.map((item) => ({ ...item, before: at(lists.from, item.from), after: at(lists.to, item.to) }));
  return [
    ...removed.map((index) => {
      const condition = at(lists.from, index);
      return toRemoved(`${path}.${index}`, condition, `${rule} no longer requires ${print(condition)}`);
    }),
    ...added.map((index) => {
      const condition = at(lists.to, index);
      return toAdded(`${path}.${index}`, condition, `${rule} now requires ${print(condition)}`);
    }),
    ...changed
      .filter((item) => JSON.stringify(item.before) !== JSON.stringify(item.after))
      .map((item): Described => {
        const meaning = `${rule} requires ${print(item.after)} instead of ${print(item.before)}`;
        return { path: `${path}.${item.to}`, kind: 'changed', before: item.before, after: item.after, meaning };
      }),
    ...matched.filter(({ isMoved }) => isMoved).map((item) => toMoved(path, item, `condition ${print(at(lists.to, item.to))} of ${rule}`)),
  ];
}

function withRule(difference: Described, { id }: PolicyRule): PolicyDifference {
  return { ...difference, ruleId: id };
}

function toRemoved(path: string, before: Json, meaning: string): Described {
  return { path, kind: 'removed', before, meaning };
}

function toAdded(path: string, after: Json, meaning: string): Described {
  return { path, kind: 'added', after, meaning };
}

function toMoved(path: string, { from, to }: { readonly from: number; readonly to: number }, name: string): Described {
  const meaning = `${name} is at place ${to + 1} instead of ${from + 1}, which changes no decision`;
  return { path: `${path}.${to}`, kind: 'moved', before: from, after: to, meaning };
}
