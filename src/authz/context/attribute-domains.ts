import { RULE_ACTIONS } from '../../actions.ts';
import { createNumberDomain, createTextDomain, type Path, type ValueDomain } from '../../conditions/index.ts';
import { WEEKDAYS } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type Definitions, fieldAt, ordinaryResources, type Resource } from '../../resources/index.ts';

const ROLES = createTextDomain(ASSIGNABLE_ROLES);

const ENVIRONMENT: ReadonlyMap<string, ValueDomain> = new Map([
  ['hour', createNumberDomain(0, 23, { noun: 'an hour', describeWrapped: describeNight })],
  ['minute', createNumberDomain(0, 59, { noun: 'a minute' })],
  ['dayOfWeek', createNumberDomain(1, 7, { noun: 'a day of the week', alsoWritten: WEEKDAYS, describeWrapped: describeDays })],
]);

const REQUEST: ReadonlyMap<string, ValueDomain> = new Map([
  ['action', createTextDomain(RULE_ACTIONS)],
  ['method', createTextDomain(['GET', 'POST', 'PUT', 'DELETE'])],
]);

/** Options of the policy linter, which also reports values that are possible but improbable. */
interface DomainOptions {
  /** Action of the rule, the only value of `request.action`. If set, `user.…` has the values of its enums only, although claims of a trusted token may differ. */
  readonly action?: string;
}

/**
 * Returns the possible values of a path in the conditions of a rule on the named resource, or on all (`*`): values of
 * enums, roles, actions, methods and clock values. Undefined if any value is possible.
 */
export function describeDomain(
  definitions: Definitions,
  resourceName: string,
  { action }: DomainOptions = {},
): (path: Path) => ValueDomain | undefined {
  return ({ group, keys }) => {
    const [name = ''] = keys;
    switch (group) {
      case 'user':
        if (name === 'role' && keys.length === 1) return ROLES;
        return action !== undefined || keys.length > 1 ? toDomain(valuesAt(definitions, definitions.get('User'), keys)) : undefined;
      case 'resource':
        if (action !== undefined && name === 'name' && isOwnName(definitions.get(resourceName), keys))
          return createTextDomain([resourceName]);
        return resourceName === '*'
          ? toDomain(valuesEverywhere(definitions, keys))
          : toDomain(valuesAt(definitions, definitions.get(resourceName), keys));
      case 'environment':
        return keys.length === 1 ? ENVIRONMENT.get(name) : undefined;
      case 'request':
        if (keys.length > 1) return undefined;
        return name === 'action' && action !== undefined && action !== '*' ? createTextDomain([action]) : REQUEST.get(name);
    }
  };
}

/** Returns true if `resource.name` is the name of the resource. */
function isOwnName(resource: Resource | undefined, keys: readonly string[]): boolean {
  return resource !== undefined && keys.length === 1 && !resource.fields.has('name');
}

function toDomain(values: readonly string[] | undefined): ValueDomain | undefined {
  return values && createTextDomain(values);
}

/** Returns the values of the enum, or of the list of an enum, at the keys. */
function valuesAt(definitions: Definitions, resource: Resource | undefined, keys: readonly string[]): readonly string[] | undefined {
  const reached = resource && fieldAt(definitions, resource, keys);
  if (reached === undefined || reached.inner.length > 0 || reached.field.writeOnly) return undefined;
  return (reached.field.of ?? reached.field).values;
}

/** Returns the values in all resources that have the field; undefined if one of them may have any value. */
function valuesEverywhere(definitions: Definitions, keys: readonly string[]): readonly string[] | undefined {
  const withField = ordinaryResources(definitions).filter((resource) => resource.fields.has(keys[0] ?? ''));
  const values = withField.map((resource) => valuesAt(definitions, resource, keys));
  if (values.length === 0 || values.includes(undefined)) return undefined;
  return [...new Set(values.flatMap((each) => each ?? []))];
}

/** The bounds of `between` are both inclusive; the end of `timeOfDayBetween` is exclusive. */
function describeNight(low: number, high: number): string {
  const [from, to] = [low, high + 1].map((hour) => JSON.stringify(`${String(hour).padStart(2, '0')}:00`));
  return `for hours over midnight use "timeOfDayBetween" on environment.timestamp with [${from}, ${to}]`;
}

function describeDays(low: number, high: number): string {
  const days = [1, 2, 3, 4, 5, 6, 7].filter((day) => day >= low || day <= high).sort((a, b) => Number(a < low) - Number(b < low) || a - b);
  return `for days over the end of the week use "in" with [${days.join(', ')}]`;
}
