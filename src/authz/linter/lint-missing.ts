import { type Condition, conditionPaths, type Path, UNRESOLVED } from '../../conditions/index.ts';
import { fieldThrough, isDeletionField, ordinaryResources, type Resource } from '../../resources/index.ts';
import { resourcesWithoutPath } from '../context/index.ts';
import { hasUnknown, toLeaves, toResidual } from './condition-analysis.ts';
import { joinNames, type RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/**
 * Reports for which users, records or requests a DENY fires because a value is missing: a missing value is unknown, and a DENY fires on
 * unknown. Paths that always have a value, and conditions that handle a missing one, are not reported.
 */
export function lintMissing(linted: LintedRule): readonly RuleFinding[] {
  const { compiled } = linted;
  // A condition that is always unknown has a finding of its own.
  if (compiled.effect !== 'DENY' || hasUnknown(compiled.condition)) return [];
  return compiled.paths.filter((path) => isUnknownWithout(path, linted)).flatMap((path) => lintPath(path, linted));
}

function lintPath(path: Path, linted: LintedRule): readonly RuleFinding[] {
  const lacking = resourcesLacking(path, linted);
  const remedy = describeRemedy(path, linted.compiled.condition);
  if (lacking.length > 0) {
    const detail = `this DENY ${describeClosed(path, linted, lacking)}, because they have no "${path.text}"`;
    return [{ code: 'closes', member: 'conditions', detail, todo: `${remedy}, or name the intended resources` }];
  }
  const lackers = describeLackers(path, linted);
  if (lackers.length === 0) return [];
  const detail = `this DENY also fires for ${lackers.join(' and ')}: a missing value is unknown, and a DENY fires on unknown`;
  return [{ code: 'fires-on-missing', member: 'conditions', detail, todo: `if that is not intended, ${remedy}; ${describeIntent(path)}` }];
}

/** Describes the accesses to `resources` that a DENY denies without a value at `path`: all if the value alone makes the condition unknown. */
function describeClosed(path: Path, linted: LintedRule, resources: readonly string[]): string {
  const { action } = linted.compiled;
  const names = joinNames(resources);
  if (residualWithout(path, linted).type === 'constant')
    return action === '*' ? `denies all access to ${names}` : `denies every ${action} of ${names}`;
  return `also fires for ${action === '*' ? 'all access to' : `${action} on`} ${names} if its other conditions are not false`;
}

/** Returns true if a missing value at `path` suffices to make a part of the condition unknown. */
function isUnknownWithout(path: Path, linted: LintedRule): boolean {
  return hasUnknown(residualWithout(path, linted));
}

function residualWithout(path: Path, linted: LintedRule): Condition {
  const { condition, resource } = linted.compiled;
  const { now } = linted.context.index;
  return toResidual(condition, {
    definitions: definitionsFor(linted),
    resource,
    now,
    valueOf: ({ text }) => (text === path.text ? undefined : UNRESOLVED),
  });
}

/** Returns the names of the resources without a field at `path`; empty unless the rule is about all resources. */
function resourcesLacking(path: Path, linted: LintedRule): readonly string[] {
  if (path.group !== 'resource' || linted.compiled.resource !== '*') return [];
  return resourcesWithoutPath(definitionsFor(linted), path);
}

/** Describes the users, records or requests that may have no value at `path`. */
function describeLackers(path: Path, linted: LintedRule): readonly string[] {
  switch (path.group) {
    case 'user':
      return describeUsers(path, linted);
    case 'resource':
      return describeRecords(path, linted);
    case 'request':
      return path.keys[0] === 'data' ? [`requests without "${path.text}"`] : [];
    case 'environment':
    case 'related':
      return [];
  }
}

function describeRecords(path: Path, linted: LintedRule): readonly string[] {
  const optional = resourcesOf(linted).filter((resource) => isOptional(resource, path, linted));
  if (optional.length === 0) return [];
  const [name = '', ...inner] = path.keys;
  const isOfDeleted = inner.length === 0 && optional.every((resource) => isDeletionField(resource, name));
  return [isOfDeleted ? 'every record that is not deleted' : `records without "${path.text}"`];
}

function describeUsers(path: Path, linted: LintedRule): readonly string[] {
  const [name = ''] = path.keys;
  const user = definitionsFor(linted).get('User');
  const isAnon = linted.context.assignments.roles.some(({ role }) => role === 'anon');
  const withoutToken = isAnon && name !== 'role' ? ['callers without a token'] : [];
  if (name === 'id' || name === 'role' || user === undefined) return withoutToken;
  if (!user.fields.has(name)) return [`every stored user (User has no field "${name}")`, ...withoutToken];
  if (!isOptional(user, path, linted)) return withoutToken;
  return [`users without "${path.text}"${describeCount(path, linted)}`, ...withoutToken];
}

function describeCount({ keys: [name = '', ...inner] }: Path, { context: { users } }: LintedRule): string {
  const withValue = inner.length > 0 ? undefined : users.withValue.get(name);
  // Files are checked without users.
  if (withValue === undefined || users.counted === 0) return '';
  const among = users.isComplete ? `${users.counted} active users` : `the first ${users.counted} active users`;
  return ` (${users.counted - withValue} of ${among} have none now)`;
}

function resourcesOf(linted: LintedRule): readonly Resource[] {
  const definitions = definitionsFor(linted);
  const { resource: named } = linted.compiled;
  if (named === '*') return ordinaryResources(definitions);
  const resource = definitions.get(named);
  return resource === undefined ? [] : [resource];
}

/** Returns true if the field at a path may have no value. False if the path leads to no field. */
function isOptional(resource: Resource, path: Path, linted: LintedRule): boolean {
  const reached = fieldThrough(definitionsFor(linted), resource, path.keys);
  if (reached === undefined) return false;
  const { field, inner, references } = reached;
  // A field with a default is empty only if a request sets it to null, which is intended.
  return inner.length > 0 || references.some(({ required }) => !required) || (!field.required && field.default === undefined);
}

/** Describes how to state that the DENY is meant to fire if `path` has no value. The finding is then not reported. */
function describeIntent({ text }: Path): string {
  return `if it is, replace the condition by { "anyOf": [{ "field": "${text}", "operator": "isNull", "value": true }, <the condition>] }`;
}

/** Describes how to make the condition false instead of unknown if `path` has no value. Under a `not`, `ifExists` would make it true. */
function describeRemedy(path: Path, condition: Condition): string {
  const leaves = toLeaves(condition).filter((leaf) => conditionPaths(leaf.condition).some(({ text }) => text === path.text));
  const isLeftSide = leaves.every(({ condition: leaf, negated }) => leaf.type === 'comparison' && leaf.path.text === path.text && !negated);
  return isLeftSide
    ? 'set "ifExists": true on the condition'
    : `add { "field": "${path.text}", "operator": "exists", "value": true } to the conditions`;
}
