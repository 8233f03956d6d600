/**
 * Findings about a single rule and its conditions: unknown names, values that never match, conditions that are always unknown, conditions that
 * the database cannot evaluate.
 */
import type { RuleAction } from '../../actions.ts';
import {
  type Comparison,
  type Condition,
  countConditions,
  type Operand,
  type Path,
  parseConditions,
  parseForeignReference,
  type Related,
} from '../../conditions/index.ts';
import type { Issue } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { type Definitions, ordinaryResources, suggestField, suggestResource } from '../../resources/index.ts';
import { describeDomain, describeLists, describePath, describeRelated, IDENTITY_NAMES } from '../context/index.ts';
import { AUDIT_LOG_NAME, compileRule, type Policy } from '../policies/index.ts';
import { type ConditionLeaf, hasUnknown, toLeaves } from './condition-analysis.ts';
import { joinNames, type RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';
import { lintContradictions } from './lint-contradictions.ts';
import { lintInMemory } from './lint-in-memory.ts';
import { lintRelated } from './lint-related.ts';
import type { PolicyIndex } from './policy-index.ts';

/** Minimum number of conditions of a rule that is reported with `many-conditions`. */
const MANY_CONDITIONS = 5;
/** Maximum number of findings with the same code about one rule. */
const MAX_PER_CODE = 5;

/** Returns the findings about the resource and the conditions of one rule. */
export function lintConditions(linted: LintedRule): readonly RuleFinding[] {
  const leaves = toLeaves(linted.compiled.condition);
  const inside = leaves.flatMap(({ condition }) => toParts(condition));
  return [
    ...lintResource(linted),
    ...lintNumber(linted.rule.conditions),
    ...lintUnknown(linted),
    ...lintNeverEqual(linted),
    ...lintContradictions(linted),
    ...inside.flatMap((part) => lintForeignReferences(part, linted)).slice(0, MAX_PER_CODE),
    ...inside.flatMap((part) => (part.type === 'comparison' ? lintNull(part, definitionsFor(linted)) : [])),
    ...lintResourceName(linted),
    ...linted.compiled.paths.flatMap((path) => [...lintData(path, linted), ...lintAttribute(path, linted)]),
    ...lintInMemory(linted, leaves),
    ...lintRelated(linted),
  ];
}

/** A comparison, a condition on ancestors, or a link of related records: the parts of a condition that have an operand. */
type ComparedPart = Comparison | Extract<Condition, { type: 'within' }> | (Related['on'][number] & { readonly type?: undefined });

/** Returns the parts of a leaf that have an operand, also those of conditions on related records and through lists of references. */
function toParts(condition: ConditionLeaf['condition']): readonly ComparedPart[] {
  switch (condition.type) {
    case 'comparison':
    case 'within':
      return [condition];
    case 'related':
    case 'some': {
      const links = condition.type === 'related' ? condition.on : [];
      return [...links, ...toLeaves(condition.where).flatMap((leaf) => toParts(leaf.condition))];
    }
    case 'expression':
      return [];
  }
}

function lintResource(linted: LintedRule): readonly RuleFinding[] {
  const { rule } = linted;
  const known = ordinaryResources(definitionsFor(linted)).map(({ name }) => name);
  if (rule.resource === '*' || rule.resource === AUDIT_LOG_NAME || known.includes(rule.resource)) return [];
  const near = suggestResource(definitionsFor(linted), rule.resource);
  const detail = `resource "${rule.resource}" has no definition${near}: the rule applies to nothing until it is defined`;
  return [{ code: 'unknown-resource', member: 'resource', detail, todo: 'use the name of a defined resource, or define this one' }];
}

function lintNumber(conditions: readonly JsonObject[]): readonly RuleFinding[] {
  const count = countConditions(conditions);
  if (count < MANY_CONDITIONS) return [];
  const detail = `the rule has ${count} conditions: a rule with fewer than ${MANY_CONDITIONS} is easier to understand`;
  return [{ code: 'many-conditions', member: 'conditions', detail, todo: 'split it into several rules' }];
}

/** Reports conditions that were valid when they were written, and are invalid under the current definitions. */
function lintUnknown(linted: LintedRule): readonly RuleFinding[] {
  if (!hasUnknown(linted.compiled.condition)) return [];
  const follows = linted.rule.effect === 'DENY' ? 'a DENY fires on unknown' : 'an ALLOW does not fire on unknown';
  return findIssues(linted)
    .slice(0, MAX_PER_CODE)
    .map(({ path, detail }) => ({
      code: 'always-unknown',
      member: path,
      detail: `the condition does not fit the current definitions (${detail}): it is always unknown, and ${follows}`,
      todo: 'rewrite the condition, or define the name that it uses',
    }));
}

/**
 * Reports literals that never equal the value of their field. They are refused in new rules, except values of `user.…` (a token of another issuer
 * may contain them) and actions and resources of other rules. Stored rules may contain any of them: an enum may have lost the value.
 */
function lintNeverEqual(linted: LintedRule): readonly RuleFinding[] {
  const domainOf = describeDomain(definitionsFor(linted), linted.rule.resource, { action: linted.rule.action });
  const issues = findIssues(linted, domainOf);
  if (issues.length === 0) return [];
  const others = new Set(findIssues(linted).map(toKey));
  return issues
    .filter((issue) => !others.has(toKey(issue)))
    .slice(0, MAX_PER_CODE)
    .map(({ path, detail }) => ({ code: 'never-equal', member: path, detail, todo: 'use a value that the field can have' }));
}

function toKey({ path, detail }: Issue): string {
  return `${path} ${detail}`;
}

/** Parses the stored conditions again and returns the mistakes. With `domainOf`, literals are validated as well. */
function findIssues({ policy, rule, context }: LintedRule, domainOf?: ReturnType<typeof describeDomain>): readonly Issue[] {
  const { definitions, limits } = context.index.snapshot.compileOptions;
  return parseConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: limits.conditions,
    describePath: describePath(definitions, rule.resource, limits.conditions),
    listsOf: describeLists(definitions, rule.resource),
    describeRelated: describeRelated(definitions, limits.conditions),
    ...(domainOf !== undefined && { domainOf }),
  }).issues;
}

function lintForeignReferences({ operand }: ComparedPart, linted: LintedRule): readonly RuleFinding[] {
  return textsOf(operand).flatMap((text): readonly RuleFinding[] => {
    const meant = parseForeignReference(text) ?? findBarePath(text, linted);
    if (meant === undefined) return [];
    const detail = `${JSON.stringify(text)} is compared as a text: a reference is written "\${${meant}}"`;
    return [{ code: 'foreign-reference', member: 'conditions', detail, todo: `if a reference is intended, write "\${${meant}}"` }];
  });
}

/** Returns a text that is a path of the definitions without its marker: `user.id` for `${user.id}`. */
function findBarePath(text: string, linted: LintedRule): string | undefined {
  const [group = '', ...keys] = text.split('.');
  if (!BARE_GROUPS.some((name) => name === group) || keys.length === 0 || text.length > MAX_BARE_PATH) return undefined;
  const described = describePath(
    definitionsFor(linted),
    linted.rule.resource,
  )({ group: group as (typeof BARE_GROUPS)[number], keys, text });
  return described !== 'any' && 'kind' in described ? text : undefined;
}

const BARE_GROUPS = ['user', 'resource', 'environment', 'request'] as const;
const MAX_BARE_PATH = 200;

function textsOf(operand: Operand): readonly string[] {
  const literals: readonly Json[] =
    operand.type === 'literal'
      ? [operand.value].flat()
      : operand.type === 'array'
        ? operand.items.flatMap((item) => (item.type === 'literal' ? [item.value] : []))
        : [];
  return literals.filter((value) => typeof value === 'string');
}

/** Reports a comparison of a stored field with null. Only claims and the body of a request can contain null. */
function lintNull({ path, operator, operand }: Comparison, definitions: Definitions): readonly RuleFinding[] {
  const isNull = operator === 'eq' && operand.type === 'literal' && operand.value === null;
  const isOfRelated = path.group === 'related';
  const isStored =
    path.group === 'resource' || isOfRelated || (path.group === 'user' && definitions.get('User')?.fields.has(path.keys[0] ?? '') === true);
  if (!isNull || !isStored || path.keys.length > (isOfRelated ? 2 : 1)) return [];
  const detail = `"${path.text}" eq null is never true: a field without a value is missing, not null`;
  return [{ code: 'eq-null', member: 'conditions', detail, todo: 'use { "operator": "isNull", "value": true }' }];
}

function lintResourceName(linted: LintedRule): readonly RuleFinding[] {
  const { rule, compiled } = linted;
  if (rule.resource !== '*' || !compiled.paths.some(({ group, keys }) => group === 'resource' && keys[0] === 'name')) return [];
  const withName = ordinaryResources(definitionsFor(linted)).filter(({ fields }) => fields.has('name'));
  if (withName.length === 0) return [];
  const names = joinNames(withName.map(({ name }) => name));
  const detail = `"resource.name" is the field "name" of ${names}, and the name of the resource for all others`;
  return [{ code: 'ambiguous-name', member: 'conditions', detail, todo: 'name one resource in "resource" of the rule' }];
}

/** The actions of rules whose requests send data. */
const SENDS_DATA: ReadonlySet<string> = new Set<RuleAction | '*'>(['create', 'update', 'import', '*']);

/** Reports a member of the body that no accepted request contains. Such a path is valid, because `request.data` is JSON as sent. */
function lintData({ group, keys, text }: Path, linted: LintedRule): readonly RuleFinding[] {
  const { resource: name, action } = linted.rule;
  const resource = definitionsFor(linted).get(name);
  const [member, field] = keys;
  if (group !== 'request' || member !== 'data' || field === undefined || resource === undefined) return [];
  if (name === AUDIT_LOG_NAME || !SENDS_DATA.has(action) || resource.fields.has(field)) return [];
  const detail = `${name} has no field "${field}"${suggestField(resource, field)}: a request with "${text}" is refused, so its value is always missing`;
  return [{ code: 'unknown-field', member: 'conditions', detail, todo: 'use the name of a field, or delete the condition' }];
}

/** Returns true if an active rule of the policy reads an attribute of users. Only then does the linter need the number of users with a value. */
export function readsUserAttributes(policy: Policy, { snapshot }: PolicyIndex): boolean {
  return policy.rules.some((rule) => rule.isActive && compileRule(policy, rule, snapshot.compileOptions).paths.some(isUserAttribute));
}

function isUserAttribute({ group, keys: [name = ''] }: Path): boolean {
  return group === 'user' && !IDENTITY_NAMES.includes(name);
}

function lintAttribute(path: Path, linted: LintedRule): readonly RuleFinding[] {
  if (!isUserAttribute(path)) return [];
  const {
    keys: [name = ''],
    text,
  } = path;
  const user = definitionsFor(linted).get('User');
  const finding = { code: 'attribute-never-set', member: 'conditions' } as const;
  if (user?.fields.has(name) !== true) {
    const near = user === undefined ? '' : suggestField(user, name);
    const detail = `User has no field "${name}"${near}: only a token of another issuer can contain "${text}"`;
    return [{ ...finding, detail, todo: 'add the field to the definition of User, or use another one' }];
  }
  const { counted, isComplete, withValue } = linted.context.users;
  if (!isComplete || counted === 0 || withValue.get(name) !== 0) return [];
  const users = counted === 1 ? 'the only active user has no' : `none of the ${counted} active users has a`;
  const detail = `${users} value in "${name}", so "${text}" is missing`;
  return [{ ...finding, detail, todo: `set "${name}" of users, or read another attribute` }];
}
