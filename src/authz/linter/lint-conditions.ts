import { type Comparison, type Path, parseConditions } from '../../conditions/index.ts';
import { didYouMean } from '../../errors.ts';
import { type Definitions, ordinaryResources } from '../../resources/index.ts';
import { describePath, IDENTITY_NAMES } from '../context/index.ts';
import { type ConditionLeaf, hasUnknown, toLeaves } from './condition-leaves.ts';
import { joinNames, type RuleFinding } from './finding.ts';
import { lintInMemoryLists } from './lint-in-memory.ts';
import { lintLiterals } from './lint-literals.ts';
import { type LintedRule, lintedDefinitions } from './lint-subject.ts';

/** Conditions of a rule from which on it is hard to say what it does. */
const MANY_CONDITIONS = 5;
/** Conditions without meaning that are told of one rule. */
const UNKNOWN_SHOWN = 5;

/** What a rule says by itself that is hardly meant. */
export function lintConditions(subject: LintedRule): readonly RuleFinding[] {
  const leaves = toLeaves(subject.compiled.condition);
  const comparisons = leaves.flatMap(({ condition }) => (condition.type === 'comparison' ? [condition] : []));
  return [
    ...remarkOnResource(subject),
    ...remarkOnNumber(leaves),
    ...remarkOnUnknown(subject),
    ...lintLiterals(subject, comparisons),
    ...comparisons.flatMap((comparison) => remarkOnNull(comparison, lintedDefinitions(subject))),
    ...remarkOnName(subject),
    ...subject.compiled.paths.flatMap((path) => remarkOnAttribute(path, subject)),
    ...lintInMemoryLists(subject, leaves),
  ];
}

function remarkOnResource(subject: LintedRule): readonly RuleFinding[] {
  const { rule } = subject;
  const known = ordinaryResources(lintedDefinitions(subject)).map(({ name }) => name);
  if (rule.resource === '*' || known.includes(rule.resource)) return [];
  const detail = `no definition names resource "${rule.resource}" yet${didYouMean(rule.resource, known)}: the rule applies to nothing until one does`;
  return [{ code: 'unknown-resource', member: 'resource', detail, todo: 'name a resource that is defined, or define this one' }];
}

function remarkOnNumber(leaves: readonly ConditionLeaf[]): readonly RuleFinding[] {
  if (leaves.length < MANY_CONDITIONS) return [];
  const detail = `the rule has ${leaves.length} conditions: fewer than ${MANY_CONDITIONS} in a rule are easier to follow`;
  return [{ code: 'many-conditions', member: 'conditions', detail, todo: 'let several rules share the work' }];
}

/** Conditions were checked when they were written; what is wrong with them now came with another definition. */
function remarkOnUnknown({ policy, rule, compiled, around }: LintedRule): readonly RuleFinding[] {
  if (!hasUnknown(compiled.condition)) return [];
  const { definitions, limits } = around.standings.snapshot.compileOptions;
  const { issues } = parseConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: limits.conditions,
    describePath: describePath(definitions, rule.resource),
  });
  const follows = rule.effect === 'DENY' ? 'a DENY fires on unknown' : 'an ALLOW does not fire on unknown';
  return issues.slice(0, UNKNOWN_SHOWN).map(({ path, detail }) => ({
    code: 'always-unknown',
    member: path,
    detail: `the definitions leave this condition no meaning (${detail}): it is always unknown, and ${follows}`,
    todo: 'write the condition anew, or define what it names',
  }));
}

/** Stored fields have a value or are missing; JSON's null comes in claims and request data alone. */
function remarkOnNull({ path, operator, operand }: Comparison, definitions: Definitions): readonly RuleFinding[] {
  const isNull = operator === 'eq' && operand.type === 'literal' && operand.value === null;
  const isStored = path.group === 'resource' || (path.group === 'user' && definitions.get('User')?.fields.has(path.keys[0] ?? '') === true);
  if (!isNull || !isStored || path.keys.length > 1) return [];
  const detail = `"${path.text}" eq null never holds: a field without a value is missing, not null`;
  return [{ code: 'eq-null', member: 'conditions', detail, todo: 'say { "operator": "isNull", "value": true }' }];
}

function remarkOnName(subject: LintedRule): readonly RuleFinding[] {
  const { rule, compiled } = subject;
  if (rule.resource !== '*' || !compiled.paths.some(({ group, keys }) => group === 'resource' && keys[0] === 'name')) return [];
  const having = ordinaryResources(lintedDefinitions(subject)).filter(({ fields }) => fields.has('name'));
  if (having.length === 0) return [];
  const names = joinNames(having.map(({ name }) => name));
  const detail = `"resource.name" is the field "name" of ${names} and the name of the resource elsewhere`;
  return [{ code: 'ambiguous-name', member: 'conditions', detail, todo: 'say which resource in "resource" of the rule' }];
}

function remarkOnAttribute({ group, keys: [name = ''], text }: Path, subject: LintedRule): readonly RuleFinding[] {
  if (group !== 'user' || IDENTITY_NAMES.includes(name)) return [];
  const fields = lintedDefinitions(subject).get('User')?.fields;
  const remark = { code: 'attribute-nobody-has', member: 'conditions' } as const;
  if (fields?.has(name) !== true) {
    const near = didYouMean(name, fields?.keys() ?? []);
    const detail = `no field of User is called "${name}"${near}: only the token of another issuer could bring "${text}"`;
    return [{ ...remark, detail, todo: 'add the field to the definition of User, or name another' }];
  }
  const { looked, all, having } = subject.around.users;
  if (!all || looked === 0 || having.get(name) !== 0) return [];
  const nobody = looked === 1 ? 'the only active user has no' : `none of the ${looked} active users has a`;
  const detail = `${nobody} value in "${name}", so "${text}" is missing${looked === 1 ? '' : ' for all of them'}`;
  return [{ ...remark, detail, todo: `give users a value in "${name}", or read another attribute` }];
}
