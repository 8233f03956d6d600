import { type Comparison, type Condition, conditionPaths, type Path, readConditions } from '../condition/index.ts';
import { describePath, lackingResources } from '../context/index.ts';
import { didYouMean, type Issue } from '../errors.ts';
import { OPERATORS } from '../operators/index.ts';
import type { Definitions } from '../resource/index.ts';
import type { PolicyInput, RuleInput } from './policy.ts';
import type { ReadPolicyOptions } from './read.ts';

/** Conditions of a rule from which on it is hard to say what it does. */
const MANY_CONDITIONS = 5;

/** Names listed in one warning. */
const NAMES_SHOWN = 5;

/** One thing to know about a rule: in which member, and in words. */
type Warning = Pick<Issue, 'code' | 'detail'> & { readonly member: 'resource' | 'conditions' };

/** What an admin should know of rules that are allowed and yet hardly meant. */
export function warningsOf(policy: PolicyInput, { definitions, limits }: ReadPolicyOptions): readonly Issue[] {
  if (policy.rules.length === 0)
    return [{ path: 'rules', code: 'empty', detail: 'a policy without rules allows nothing and denies nothing' }];
  return policy.rules.flatMap((rule, index) => {
    const { condition } = readConditions(rule.conditions, {
      at: '',
      expressions: policy.type === 'CUSTOM',
      limits: limits.conditions,
      describePath: describePath(definitions, rule.resource),
    });
    const leaves = toLeaves(condition);
    const warnings: readonly Warning[] = [
      ...warnOfUnknownResource(rule, definitions),
      ...(leaves.length >= MANY_CONDITIONS ? [{ member: 'conditions', code: 'many', detail: warningOfMany(leaves.length) } as const] : []),
      ...leaves.flatMap((leaf) => warnOfLeaf(leaf, rule, definitions)),
    ];
    return warnings.map(({ member, code, detail }) => ({ path: `rules.${index}.${member}`, code, detail }));
  });
}

type Leaf = Extract<Condition, { type: 'comparison' | 'expression' }>;

function toLeaves(condition: Condition): readonly Leaf[] {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.flatMap(toLeaves);
    case 'not':
      return toLeaves(condition.of);
    case 'constant':
      return [];
    default:
      return [condition];
  }
}

function warnOfUnknownResource({ resource }: RuleInput, definitions: Definitions): readonly Warning[] {
  const known = [...definitions.values()].filter(({ internal }) => !internal).map(({ name }) => name);
  if (resource === '*' || known.includes(resource)) return [];
  const detail = `no definition names resource "${resource}" yet${didYouMean(resource, known)}: the rule applies to nothing until one does`;
  return [{ member: 'resource', code: 'unknown', detail }];
}

function warningOfMany(count: number): string {
  return `the rule has ${count} conditions: fewer than ${MANY_CONDITIONS} in a rule are easier to follow, several rules can share the work`;
}

function warnOfLeaf(leaf: Leaf, rule: RuleInput, definitions: Definitions): readonly Warning[] {
  const comparison = leaf.type === 'comparison' ? leaf : undefined;
  const texts = [
    ...(comparison === undefined ? [] : warnOfNull(comparison, definitions)),
    ...(rule.resource === '*' ? warnOfName(conditionPaths(leaf), definitions) : []),
    ...(rule.resource === '*' && rule.effect === 'DENY' ? warnOfLacking(leaf, definitions) : []),
  ];
  return texts.map(([code, detail]) => ({ member: 'conditions', code, detail }));
}

type Text = readonly [code: string, detail: string];

/** Stored fields have a value or are missing; JSON's null comes in claims and request data alone. */
function warnOfNull({ path, operator, operand }: Comparison, definitions: Definitions): readonly Text[] {
  const isNull = operator === 'eq' && operand.type === 'literal' && operand.value === null;
  const isStored = path.group === 'resource' || (path.group === 'user' && definitions.get('User')?.fields.has(path.keys[0] ?? '') === true);
  if (!isNull || !isStored || path.keys.length > 1) return [];
  return [
    [
      'never',
      `"${path.text}" eq null never holds: a field without a value is missing, not null; say { "operator": "isNull", "value": true }`,
    ],
  ];
}

function warnOfName(paths: readonly Path[], definitions: Definitions): readonly Text[] {
  if (!paths.some(({ group, keys }) => group === 'resource' && keys[0] === 'name')) return [];
  const having = [...definitions.values()].filter(({ internal, fields }) => !internal && fields.has('name')).map(({ name }) => name);
  if (having.length === 0) return [];
  return [
    [
      'ambiguous',
      `"resource.name" is the field "name" of ${listed(having)} and the name of the resource elsewhere; say which resource in "resource" of the rule`,
    ],
  ];
}

/** A DENY fires on unknown, so where a resource has no such field it is closed as a whole. */
function warnOfLacking(leaf: Leaf, definitions: Definitions): readonly Text[] {
  return conditionPaths(leaf).flatMap((path): readonly Text[] => {
    if (path.group !== 'resource' || isAnsweredWhenMissing(leaf, path)) return [];
    const lacking = lackingResources(definitions, path);
    if (lacking.length === 0) return [];
    const wayOut =
      leaf.type === 'comparison' && leaf.path === path
        ? 'say "ifExists": true on the condition, or name the resources'
        : 'name the resources';
    return [['closes', `this DENY closes ${listed(lacking)} entirely, for want of a value at "${path.text}": ${wayOut}`]];
  });
}

function isAnsweredWhenMissing(leaf: Leaf, path: Path): boolean {
  if (leaf.type !== 'comparison' || leaf.path !== path) return false;
  return leaf.ifExists || OPERATORS.get(leaf.operator)?.definedOnMissing === true;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
