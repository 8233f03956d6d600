/** For the tests of differences: applies differences to the older version, as a client would. */
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Policy, PolicyRule } from './policy.ts';
import { type PolicyDifference, toPolicyContent } from './policy-diff.ts';

/** Applies differences to a policy and returns the content of the other version. Reads nothing but paths, kinds and values. */
export function applyDifferences(from: Policy, differences: readonly PolicyDifference[]): JsonObject {
  const { rules, tags, ...members } = toPolicyContent(from);
  const changed: Record<string, Json> = { ...members };
  for (const difference of differences) if (!difference.path.includes('.')) assignMember(changed, difference.path, difference);
  const ofRules = applyToList(rules as readonly JsonObject[], listOf(differences, 'rules'));
  return {
    ...changed,
    tags: applyToList(tags as readonly string[], listOf(differences, 'tags')),
    rules: ofRules.map((rule, index) => applyToRule(rule, listOf(differences, `rules.${index}`))),
  };
}

function applyToRule(rule: JsonObject, differences: readonly ListDifference[]): JsonObject {
  const { conditions, ...members } = rule;
  const changed: Record<string, Json> = { ...members };
  for (const difference of differences) if (!difference.rest.includes('.')) assignMember(changed, difference.rest, difference);
  const ofConditions = differences
    .filter(({ rest }) => rest.startsWith('conditions.'))
    .map((difference) => ({ ...difference, rest: difference.rest.slice('conditions.'.length) }));
  return { ...changed, conditions: applyToList(conditions as readonly JsonObject[], ofConditions) };
}

function assignMember(target: Record<string, Json>, name: string, { kind, after }: Pick<PolicyDifference, 'kind' | 'after'>): void {
  if (kind === 'removed') delete target[name];
  else target[name] = after as Json;
}

interface ListDifference extends PolicyDifference {
  /** The path inside the list or the rule. */
  readonly rest: string;
}

function listOf(differences: readonly PolicyDifference[], path: string): readonly ListDifference[] {
  return differences
    .filter((difference) => difference.path.startsWith(`${path}.`))
    .map((difference) => ({ ...difference, rest: difference.path.slice(path.length + 1) }));
}

/** Removes the removed items, puts added and moved items at their places, and fills the other places with the rest in order. */
function applyToList<Item extends Json>(from: readonly Item[], differences: readonly ListDifference[]): readonly Item[] {
  const own = differences.filter(({ rest }) => !rest.includes('.'));
  const ofKind = (kind: PolicyDifference['kind']) => own.filter((difference) => difference.kind === kind);
  const gone = new Set([...ofKind('removed').map(({ rest }) => Number(rest)), ...ofKind('moved').map(({ before }) => Number(before))]);
  const rest = from.filter((_, index) => !gone.has(index));
  const placed = new Map<number, Item>([
    ...ofKind('added').map(({ rest: index, after }) => [Number(index), after as Item] as const),
    ...ofKind('moved').map(({ after, before }) => [Number(after), from[Number(before)] as Item] as const),
  ]);
  const to: Item[] = [];
  while (rest.length > 0 || placed.has(to.length)) to.push(placed.get(to.length) ?? (rest.shift() as Item));
  for (const { rest: index, after } of ofKind('changed')) to[Number(index)] = after as Item;
  return to;
}

/** Returns a policy with these rules. Rules with the same id are versions of one rule. */
export function policyOf(rules: readonly (Partial<PolicyRule> & { readonly id: string })[], members: Partial<Policy> = {}): Policy {
  const at = '2026-01-01T00:00:00.000Z';
  const fixed = {
    policyId: 'p',
    resource: 'Article',
    action: 'update',
    effect: 'ALLOW',
    conditions: [],
    priority: 100,
    isActive: true,
  } as const;
  return {
    id: 'p',
    name: 'Editors',
    type: 'CUSTOM',
    isActive: true,
    priority: 100,
    createdBy: 'ada',
    tags: [],
    createdAt: at,
    updatedAt: at,
    version: 1,
    rules: rules.map((rule) => ({ ...fixed, createdAt: at, ...rule })),
    ...members,
  };
}
