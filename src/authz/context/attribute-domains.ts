import { RULE_ACTIONS } from '../../actions.ts';
import { createNumberDomain, createStoredDomain, createTextDomain, type Path, type ValueDomain } from '../../conditions/index.ts';
import { WEEKDAYS } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type Definitions, fieldThrough, ordinaryResources, type Resource, typeOf } from '../../resources/index.ts';

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
  /**
   * Action of the linted rule. If set, `user.…` has only the values of its enums, and emails and UUIDs in lower case, although claims of a trusted token may differ.
   * `request.action` has only this value, unless it is `*`. `resource.name` is the name of the resource if no field has that name.
   */
  readonly action?: string;
}

/**
 * Returns a function that returns the possible values of a path in the conditions of a rule on the named resource, or on all (`*`):
 * values of enums, roles, actions, methods and clock values, and the stored form of emails and UUIDs. The function returns undefined if any value is possible.
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
        return action !== undefined || keys.length > 1 ? domainAt(definitions, definitions.get('User'), keys) : undefined;
      case 'resource':
        if (action !== undefined && name === 'name' && isOwnName(definitions.get(resourceName), keys))
          return createTextDomain([resourceName]);
        return resourceName === '*' ? domainEverywhere(definitions, keys) : domainAt(definitions, definitions.get(resourceName), keys);
      case 'environment':
        return keys.length === 1 ? ENVIRONMENT.get(name) : undefined;
      case 'request':
        if (keys.length > 1) return undefined;
        return name === 'action' && action !== undefined && action !== '*' ? createTextDomain([action]) : REQUEST.get(name);
      case 'related':
        return undefined;
    }
  };
}

/** Returns the values of a field of related records; undefined if it can have any value. */
export function relatedDomainOf(definitions: Definitions, resource: Resource, keys: readonly string[]): ValueDomain | undefined {
  return domainAt(definitions, resource, keys);
}

/** Returns true if the path `resource.name` is the name of the resource: no field is called `name`. */
function isOwnName(resource: Resource | undefined, keys: readonly string[]): boolean {
  return resource !== undefined && keys.length === 1 && !resource.fields.has('name');
}

/** Returns the values of the field, or of the items of the list, at the keys; undefined if the field is secret or can have any value. */
function domainAt(definitions: Definitions, resource: Resource | undefined, keys: readonly string[]): ValueDomain | undefined {
  const reached = resource && fieldThrough(definitions, resource, keys);
  if (reached === undefined || reached.inner.length > 0 || reached.field.writeOnly) return undefined;
  const field = reached.field.of ?? reached.field;
  if (field.values !== undefined) return createTextDomain(field.values);
  const { kind, toCanonical } = typeOf(field);
  return kind === 'text' && toCanonical !== undefined ? createStoredDomain((value) => toCanonical(value, field)) : undefined;
}

/** Returns the values of the field in all resources that have it; undefined if no resource has it, or if it may have any value in a resource. */
function domainEverywhere(definitions: Definitions, keys: readonly string[]): ValueDomain | undefined {
  const withField = ordinaryResources(definitions).filter((resource) => resource.fields.has(keys[0] ?? ''));
  const domains = withField.map((resource) => domainAt(definitions, resource, keys));
  const values = domains.map((domain) => domain?.values);
  if (values.every((each) => each === undefined)) return domains.includes(undefined) ? undefined : domains[0];
  return values.includes(undefined) ? undefined : createTextDomain([...new Set(values.flatMap((each) => each ?? []))].map(String));
}

/** Describes the correct condition for hours over midnight. It ends at `high + 1`, because `timeOfDayBetween` excludes its end and `between` does not. */
function describeNight(low: number, high: number): string {
  const [from, to] = [low, high + 1].map((hour) => JSON.stringify(`${String(hour).padStart(2, '0')}:00`));
  return `for hours over midnight use "timeOfDayBetween" on environment.timestamp with [${from}, ${to}]`;
}

function describeDays(low: number, high: number): string {
  const days = [1, 2, 3, 4, 5, 6, 7].filter((day) => day >= low || day <= high).sort((a, b) => Number(a < low) - Number(b < low) || a - b);
  return `for days over the end of the week use "in" with [${days.join(', ')}]`;
}
