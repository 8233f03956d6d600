import { type Condition, conditionPaths, type Path, UNRESOLVED } from '../../conditions/index.ts';
import { fieldAt, isDeletionField, ordinaryResources, type Resource } from '../../resources/index.ts';
import { resourcesWithoutPath } from '../context/index.ts';
import { hasUnknown, toLeaves, toResidual } from './condition-leaves.ts';
import { joinNames, type RuleFinding } from './finding.ts';
import { type LintedRule, lintedDefinitions } from './lint-subject.ts';

/**
 * A DENY fires on unknown, so it fires where something that it compares is missing: for whom that is, in words. Nothing is
 * said of what always has a value, and of conditions that have an answer for what is missing.
 */
export function lintMissing(subject: LintedRule): readonly RuleFinding[] {
  const { compiled } = subject;
  // Of a condition that is unknown as it is, there is something else to say first.
  if (compiled.effect !== 'DENY' || hasUnknown(compiled.condition)) return [];
  return compiled.paths.filter((path) => isUnknownWithout(path, subject)).flatMap((path) => remarkOn(path, subject));
}

function remarkOn(path: Path, subject: LintedRule): readonly RuleFinding[] {
  const lacking = lackedBy(path, subject);
  const way = wayOut(path, subject.compiled.condition);
  if (lacking.length > 0) {
    const detail = `this DENY closes ${joinNames(lacking)} entirely, for want of a value at "${path.text}"`;
    return [{ code: 'closes', member: 'conditions', detail, todo: `${way}, or name the resources that are meant` }];
  }
  const who = withoutValue(path, subject);
  if (who.length === 0) return [];
  const detail = `this DENY also fires for ${who.join(' and ')}: what is missing is unknown, and a DENY fires on unknown`;
  return [{ code: 'fires-on-missing', member: 'conditions', detail, todo: `if that is not meant, ${way}` }];
}

/** Whether a condition has an unknown part where there is nothing at `path`, whatever else is there. */
function isUnknownWithout(path: Path, subject: LintedRule): boolean {
  const { condition, resource } = subject.compiled;
  const { now } = subject.around.standings;
  const left = toResidual(condition, {
    definitions: lintedDefinitions(subject),
    resource,
    now,
    valueOf: ({ text }) => (text === path.text ? undefined : UNRESOLVED),
  });
  return hasUnknown(left);
}

/** Of a rule on all resources: those whose records never have a value there. */
function lackedBy(path: Path, subject: LintedRule): readonly string[] {
  if (path.group !== 'resource' || subject.compiled.resource !== '*') return [];
  return resourcesWithoutPath(lintedDefinitions(subject), path);
}

/** Who or what may have no value at `path`, in words. */
function withoutValue(path: Path, subject: LintedRule): readonly string[] {
  switch (path.group) {
    case 'user':
      return usersWithout(path, subject);
    case 'resource':
      return recordsWithout(path, subject);
    case 'request':
      return path.keys[0] === 'data' ? [`requests that do not send "${path.text}"`] : [];
    case 'environment':
      return [];
  }
}

function recordsWithout(path: Path, subject: LintedRule): readonly string[] {
  const without = resourcesOf(subject).filter((resource) => isOptional(resource, path, subject));
  if (without.length === 0) return [];
  const [name = '', ...inner] = path.keys;
  const isOfDeleted = inner.length === 0 && without.every((resource) => isDeletionField(resource, name));
  return [isOfDeleted ? 'every record that is not deleted' : `records without "${path.text}"`];
}

function usersWithout(path: Path, subject: LintedRule): readonly string[] {
  const [name = ''] = path.keys;
  const user = lintedDefinitions(subject).get('User');
  const isAnon = subject.around.assignments.roles.some(({ role }) => role === 'anon');
  const withoutToken = isAnon && name !== 'role' ? ['callers without a token'] : [];
  if (name === 'id' || name === 'role' || user === undefined) return withoutToken;
  if (!user.fields.has(name)) return [`every stored user, since no field of User is called "${name}",`, ...withoutToken];
  if (!isOptional(user, path, subject)) return withoutToken;
  return [`users without "${path.text}"${countOf(path, subject)}`, ...withoutToken];
}

function countOf({ keys: [name = '', ...inner] }: Path, { around: { users } }: LintedRule): string {
  const having = inner.length > 0 ? undefined : users.having.get(name);
  if (having === undefined) return '';
  const among = users.all ? `${users.looked} active users` : `the first ${users.looked} active users`;
  return ` (${users.looked - having} of ${among} have none now)`;
}

function resourcesOf(subject: LintedRule): readonly Resource[] {
  const definitions = lintedDefinitions(subject);
  const { resource: named } = subject.compiled;
  if (named === '*') return ordinaryResources(definitions);
  const resource = definitions.get(named);
  return resource === undefined ? [] : [resource];
}

/** Whether a field that a path leads to may have no value; what is no field here is none that could. */
function isOptional(resource: Resource, path: Path, subject: LintedRule): boolean {
  const reached = fieldAt(lintedDefinitions(subject), resource, path.keys);
  if (reached === undefined) return false;
  const { field, inner, via } = reached;
  // With a default, only who says null has none: that is meant.
  return inner.length > 0 || via?.required === false || (!field.required && field.default === undefined);
}

/** What makes a condition false, not unknown, where there is nothing at `path`. Under a `not`, `ifExists` would make it true. */
function wayOut(path: Path, condition: Condition): string {
  const reading = toLeaves(condition).filter((leaf) => conditionPaths(leaf.condition).some(({ text }) => text === path.text));
  const isSubject = reading.every(({ condition: leaf, negated }) => leaf.type === 'comparison' && leaf.path.text === path.text && !negated);
  return isSubject
    ? 'say "ifExists": true on the condition'
    : `add { "field": "${path.text}", "operator": "exists", "value": true } to the conditions`;
}
