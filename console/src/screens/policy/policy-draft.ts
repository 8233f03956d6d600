/** The draft of a policy: JSON as an admin writes it. It may contain mistakes and unknown members, which the service reports. */
import type { Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import type { Policy } from '../../api/policies.ts';
import { isRecord } from '../../components/condition/condition-json.ts';

/** The members of a policy or rule, as the text contains them. */
export type DraftJson = Readonly<Record<string, unknown>>;

/** Members of a policy that the service sets. */
const POLICY_SET = ['id', 'version', 'createdAt', 'createdBy', 'updatedAt', 'managedBy', 'file'];
/** Members of a rule that the service sets. The id is kept: it says which rule a change replaces. */
const RULE_SET = ['policyId', 'createdAt'];

/** The text of a draft as it was typed. It may be unreadable, while the draft is the last version that could be read. */
export interface PolicyText {
  readonly format: 'json' | 'yaml';
  readonly text: string;
  /** The mistake because of which the text cannot be read; undefined if it was read. */
  readonly mistake?: string | undefined;
}

/** The draft of a new policy. */
export const EMPTY_POLICY: DraftJson = { name: '', type: 'ATTRIBUTE_BASED', isActive: true, priority: 100, tags: [], rules: [] };

/** Returns the draft of a new policy that begins with a template. The description of the template no longer fits when its rules change. */
export function fromTemplate(template: DraftJson): DraftJson {
  return { ...EMPTY_POLICY, ...without(template, ['description', 'tags']) };
}

/** Returns the members of a policy that an admin writes. */
export function toDraft(policy: Policy | DraftJson): DraftJson {
  const own = without(policy, POLICY_SET);
  const { rules } = own;
  return Array.isArray(rules) ? { ...own, rules: rules.map((rule) => (isRecord(rule) ? toDraftRule(rule) : rule)) } : own;
}

/** Returns the members of a rule that an admin writes, and its id. */
export function toDraftRule(rule: DraftJson): DraftJson {
  return without(rule, RULE_SET);
}

/**
 * Returns the body of a change: all members of the draft. A description that the draft does not have is null, because members that are absent
 * keep their values.
 */
export function toChange(draft: DraftJson): DraftJson {
  return { ...draft, description: draft['description'] ?? null, tags: draft['tags'] ?? [] };
}

/** A role or a user that a policy is assigned to. */
export type Assignee = Pick<Schemas['admin.DraftAssignment'], 'role' | 'userId'>;

/** The id that the first new policy of a draft has in its assignments. */
const NEW_POLICY = 'draft:0';

/**
 * Returns a draft as the API tries it: a change of the policy with the id, or a new policy without one. With an assignee, it also assigns the policy:
 * the rules of a new one apply to no request otherwise.
 */
export function toPolicyDraft(draft: DraftJson, id: string | undefined, assignee?: Assignee): Draft {
  const policy = { ...toChange(draft), ...(id !== undefined && { id }) };
  return {
    policies: [policy as Schemas['admin.PolicyChange']],
    ...(assignee && { assignments: [{ policyId: id ?? NEW_POLICY, ...assignee }] }),
  };
}

/**
 * Returns the draft of a past version. The API knows only the ids of present rules, and a rule without an id is a new one, so a rule that has been
 * removed since loses its id.
 */
export function toPastDraft(past: Policy, present: Policy): DraftJson {
  const known = new Set(present.rules.map(({ id }) => id));
  const draft = toDraft(past);
  return { ...draft, rules: past.rules.map((rule) => without(toDraftRule(rule), known.has(rule.id) ? [] : ['id'])) };
}

/** Returns the rules of a draft; undefined if they are no list. */
export function rulesOf(draft: DraftJson): readonly unknown[] | undefined {
  const { rules = [] } = draft;
  return Array.isArray(rules) ? rules : undefined;
}

/** Returns a member that should be a text. */
export function textOf(json: DraftJson, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value : '';
}

/** Returns a member that should be a number. */
export function numberOf(json: DraftJson, name: string, fallback: number): number {
  const value = json[name];
  return typeof value === 'number' ? value : fallback;
}

/** Priority of policies and rules that name none. */
export const DEFAULT_PRIORITY = 100;

/** A rule and its index in the policy. */
export interface PlacedRule {
  readonly rule: unknown;
  readonly index: number;
}

/** Returns the rules in the order in which decisions evaluate them: by priority, DENY before ALLOW. */
export function inDecisionOrder(rules: readonly unknown[]): readonly PlacedRule[] {
  const placed = rules.map((rule, index) => ({ rule, index }));
  const rankOf = ({ rule }: PlacedRule) => {
    const json = isRecord(rule) ? rule : {};
    return { priority: numberOf(json, 'priority', DEFAULT_PRIORITY), isDeny: json['effect'] === 'DENY', id: textOf(json, 'id') };
  };
  return placed.sort((a, b) => {
    const [first, second] = [rankOf(a), rankOf(b)];
    // A rule that is not stored yet gets an id behind all others.
    const byId = first.id === second.id ? a.index - b.index : first.id === '' ? 1 : second.id === '' ? -1 : first.id < second.id ? -1 : 1;
    return second.priority - first.priority || Number(second.isDeny) - Number(first.isDeny) || byId;
  });
}

/** Returns true if two drafts have the same members and values, in any order of members. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return Object.is(a, b);
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  const others = Object.keys(b).filter((name) => b[name] !== undefined);
  return names.length === others.length && names.every((name) => isSame(a[name], b[name]));
}

/** Returns a draft with its members and rules in the order of another draft, so that a comparison of their texts shows only what differs. */
export function alignMembers(json: unknown, model: unknown): unknown {
  if (Array.isArray(json)) return json.map((item, index) => alignMembers(item, counterpartOf(item, index, model)));
  if (!isRecord(json) || !isRecord(model)) return json;
  const names = [
    ...Object.keys(model).filter((name) => Object.hasOwn(json, name)),
    ...Object.keys(json).filter((name) => !Object.hasOwn(model, name)),
  ];
  return Object.fromEntries(names.map((name) => [name, alignMembers(json[name], model[name])]));
}

/** Returns the item of a list that another item is a version of: the one with its id, otherwise the one at its place. */
function counterpartOf(item: unknown, index: number, list: unknown): unknown {
  if (!Array.isArray(list)) return undefined;
  const id = isRecord(item) ? textOf(item, 'id') : '';
  return id === '' ? list[index] : list.find((each) => isRecord(each) && textOf(each, 'id') === id);
}

function without(json: DraftJson | Policy, names: readonly string[]): DraftJson {
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));
}

/** Returns the object with a text, or without the member if the text is empty. */
export function withText(json: DraftJson, name: string, text: string): DraftJson {
  const { [name]: _, ...others } = json;
  return text === '' ? others : { ...json, [name]: text };
}
