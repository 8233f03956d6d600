import { didYouMean, type Issue, type IssueCode } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { describeType } from './definition-mistake.ts';
import { quote } from './definition-names.ts';
import type { Resource } from './resource.ts';
import { toStoredValue, typeOf, validateGiven } from './validate-shape.ts';

// Limits reported mistakes, because each suggestion compares a name with every field.
const MOST_ISSUES = 100;
const MOST_SUGGESTIONS = 10;

/** The operation that sets the values, and the rights of its caller. */
export interface ValidateOptions {
  readonly mode: 'create' | 'update';
  /** True if guarded fields may be set. */
  readonly isAdmin: boolean;
  /** The record whose numbers the values may increment; absent if increments are not allowed. */
  readonly stored?: JsonObject | undefined;
  /** True if mistakes suggest similar names. True by default. */
  readonly suggests?: boolean | undefined;
}

/** Validated values, or their mistakes. */
export interface ValidatedValues {
  /** The valid values in canonical form, on create with defaults. */
  readonly values: JsonObject;
  /** Names of the optional fields given as null, whose values are removed. */
  readonly cleared: readonly string[];
  /** Every mistake, up to a hundred. */
  readonly issues: readonly Issue[];
}

/** Validates the values of a request against the definition. Values are not coerced. */
export function validateValues(resource: Resource, input: Json | undefined, options: ValidateOptions): ValidatedValues {
  if (!isObject(input)) {
    const detail = `expected an object of field names and values, given ${describeType(input)}`;
    return { values: {}, cleared: [], issues: [{ path: '', code: 'type', detail }] };
  }
  const { given, cleared, issues } = sortOut(resource, input, options);
  issues.push(...validateGiven(resource, given));
  const broken = new Set(issues.map((issue) => issue.path.split('.', 1)[0]));
  const values: Record<string, Json> = {};
  for (const [field, value] of given) {
    if (!broken.has(field.name)) values[field.name] = toStoredValue(field, value);
  }
  if (!options.isAdmin) issues.push(...refuseGuarded(resource, values, options.mode));
  if (options.mode === 'create') issues.push(...complete(resource, { input, values }));
  return { values, cleared, issues: issues.slice(0, MOST_ISSUES) };
}

interface SortedOut {
  readonly given: ReadonlyMap<Field, Json>;
  readonly cleared: string[];
  readonly issues: Issue[];
}

// Separates the given values from cleared fields, and reports fields that are unknown or cannot be set.
function sortOut(resource: Resource, input: JsonObject, { mode, isAdmin, stored, suggests = true }: ValidateOptions): SortedOut {
  const given = new Map<Field, Json>();
  const cleared: string[] = [];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (issues.length >= MOST_ISSUES) break;
    const field = resource.fields.get(name);
    if (field === undefined) {
      const near = suggests && issues.length < MOST_SUGGESTIONS ? didYouMean(name, writable(resource)) : '';
      issues.push({ path: name.slice(0, 64), code: 'unknown', detail: `unknown field ${quote(name)}${near}` });
    } else if (field.readOnly) {
      issues.push({ path: name, code: 'readOnly', detail: 'expected no value: the service sets it' });
    } else if (field.immutable && mode === 'update') {
      issues.push({ path: name, code: 'immutable', detail: 'expected no value: it is set on create and never changed' });
    } else if (isIncrement(field, value)) {
      const sum = applyIncrement(field, value, stored);
      if ('issue' in sum) issues.push(sum.issue);
      else given.set(field, sum.value);
    } else if (value !== null) given.set(field, value);
    else if (field.required) issues.push({ path: name, code: 'required', detail: 'expected a value, given null' });
    else if (field.guarded && !isAdmin) issues.push(guardedIssue(field));
    else cleared.push(name);
  }
  return { given, cleared, issues };
}

function writable(resource: Resource): readonly string[] {
  return [...resource.fields.values()].filter((field) => !field.readOnly).map((field) => field.name);
}

// Removes guarded fields from `values` and returns an issue for each. On create, the default value of a field is accepted.
function refuseGuarded(resource: Resource, values: Record<string, Json>, mode: ValidateOptions['mode']): Issue[] {
  const issues: Issue[] = [];
  for (const field of resource.fields.values()) {
    const value = values[field.name];
    if (!field.guarded || value === undefined || (mode === 'create' && value === field.default)) continue;
    delete values[field.name];
    issues.push(guardedIssue(field));
  }
  return issues;
}

function guardedIssue(field: Field): Issue {
  return { path: field.name, code: 'guarded', detail: 'expected no value: only an admin may set it' };
}

interface Incomplete {
  readonly input: JsonObject;
  readonly values: Record<string, Json>;
}

// Adds defaults and reports missing required fields.
function complete(resource: Resource, { input, values }: Incomplete): Issue[] {
  const issues: Issue[] = [];
  for (const field of resource.fields.values()) {
    if (Object.hasOwn(input, field.name)) continue;
    if (field.default !== undefined) values[field.name] = field.default;
    else if (field.required && !field.readOnly) issues.push({ path: field.name, code: 'required', detail: 'expected a value, given none' });
  }
  return issues;
}

/** Returns true for `{ "increment": amount }` on a numeric field. */
function isIncrement(field: Field, given: Json): given is JsonObject {
  return typeOf(field).add !== undefined && isObject(given) && Object.hasOwn(given, 'increment');
}

/** Returns true if a change has an increment. */
export function hasIncrement(resource: Resource, change: Json | undefined): boolean {
  if (!isObject(change)) return false;
  return Object.entries(change).some(([name, given]) => {
    const field = resource.fields.get(name);
    return field !== undefined && isIncrement(field, given);
  });
}

/** Returns the incremented value, or the reason why there is none. `stored` is the record; undefined if increments are not allowed. */
function applyIncrement(
  field: Field,
  given: JsonObject,
  stored: JsonObject | undefined,
): { readonly value: Json } | { readonly issue: Issue } {
  const refuse = (code: IssueCode, detail: string): { issue: Issue } => ({ issue: { path: field.name, code, detail } });
  if (stored === undefined) return refuse('increment', 'expected a value: only an update can increment');
  if (field.writeOnly) return refuse('increment', 'expected a value: a write-only field cannot be incremented');
  if (Object.keys(given).length > 1) return refuse('type', 'expected increment as the only member');
  const before = ownValue(stored, field.name);
  if (before === undefined || before === null) return refuse('increment', 'expected a stored value to increment, the record has none');
  const value = typeOf(field).add?.(before, given['increment'] ?? null, field);
  return value === undefined
    ? refuse('type', `expected an amount of the type ${field.type}, whose sum with the stored value has this type too`)
    : { value };
}
