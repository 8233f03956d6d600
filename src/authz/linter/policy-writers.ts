/** The rules by which every user of a policy may write records, by resource and action, so that the linter does not search all rules of all users. */
import { getOrCreate, memoize } from '../../memoize.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Policy, PolicyRule } from '../policies/index.ts';
import { namesCovering } from './rule-groups.ts';

/** An active rule with its policy. */
export interface Writer {
  readonly rule: PolicyRule;
  readonly policy: Policy;
}

/** The writes of a resource that are searched, and the fields that contain the id of the owner of a record. */
export interface Writes {
  readonly resource: string;
  readonly actions: readonly string[];
  readonly owners: readonly string[];
}

/** The rules of a policy about one resource and action. */
interface WriterGroup {
  /** True if a DENY without conditions covers all writes. */
  isDenied: boolean;
  /** True if an ALLOW without conditions allows all writes. */
  isAllowed: boolean;
  /** The first ALLOW for each list of owner fields that its conditions compare with the user, by this list as JSON. */
  readonly writers: Map<string, Writer & { readonly owners: readonly string[] }>;
}

type PolicyWriters = ReadonlyMap<string, WriterGroup>;

/** Policies do not change, and the next snapshot shares the unchanged ones, so the rules of each are grouped once. */
const writersOf = new WeakMap<Policy, PolicyWriters>();

/** Returns the first rule by which every user of the policies may write records, or their own records. */
export function findWriter(policies: readonly Policy[], { resource, actions, owners }: Writes): Writer | undefined {
  for (const action of actions) {
    const groups = groupsOf(policies, resource, action);
    if (groups.some(({ isDenied }) => isDenied)) continue;
    for (const { writers } of groups) {
      const writer = [...writers.values()].find((each) => each.owners.every((owner) => owners.includes(owner)));
      if (writer !== undefined) return writer;
    }
  }
  return undefined;
}

/** Returns true if a rule without conditions allows everything that a rule about the resource and action can allow. */
export function allowsAll(policies: readonly Policy[], resource: string, action: string): boolean {
  return groupsOf(policies, resource, action).some(({ isAllowed }) => isAllowed);
}

function groupsOf(policies: readonly Policy[], resource: string, action: string): readonly WriterGroup[] {
  const keys = namesCovering(resource).flatMap((name) => [toKey(name, action), toKey(name, '*')]);
  return policies.flatMap((policy) => {
    const writers = memoize(writersOf, policy, groupWriters);
    return keys.flatMap((key) => writers.get(key) ?? []);
  });
}

function groupWriters(policy: Policy): PolicyWriters {
  const groups = new Map<string, WriterGroup>();
  for (const rule of policy.rules) {
    const owners = rule.isActive ? ownersIn(rule) : undefined;
    if (owners === undefined) continue;
    const group = getOrCreate(groups, toKey(rule.resource, rule.action), createGroup);
    group.isDenied ||= rule.effect === 'DENY' && rule.conditions.length === 0;
    group.isAllowed ||= rule.effect === 'ALLOW' && rule.conditions.length === 0;
    if (rule.effect === 'ALLOW') getOrCreate(group.writers, JSON.stringify(owners), () => ({ rule, policy, owners }));
  }
  return groups;
}

function createGroup(): WriterGroup {
  return { isDenied: false, isAllowed: false, writers: new Map() };
}

function toKey(resource: string, action: string): string {
  return `${resource} ${action}`;
}

/** Returns the fields of the record that must equal the id of the user; undefined if the rule has a condition on something else. */
function ownersIn({ conditions }: PolicyRule): readonly string[] | undefined {
  const owners = conditions.map(ownerIn);
  return owners.every((owner) => owner !== undefined) ? owners : undefined;
}

function ownerIn({ field, operator, value, ...others }: JsonObject): string | undefined {
  if (operator !== 'eq' || Object.keys(others).length > 0) return undefined;
  if (value === '${user.id}') return typeof field === 'string' ? OWN_FIELD.exec(field)?.[1] : undefined;
  return field === 'user.id' && typeof value === 'string' ? OWN_REFERENCE.exec(value)?.[1] : undefined;
}

const OWN_FIELD = /^resource\.([^.]+)$/;
const OWN_REFERENCE = /^\$\{resource\.([^.}]+)\}$/;
