/**
 * The filter of a client: `where` of a list, `filter` of createIfNotExists and updateIfExists.
 *
 * `parseWhere` reads its shape, before any definition is known. `resolveWhere` looks up fields and operators in the definition in
 * force, converts the values, and returns the condition.
 */

import {
  type Comparison,
  type Condition,
  createTextDomain,
  type PathKind,
  type ValueDomain,
  validateLiteralValues,
} from '../conditions/index.ts';
import { type Issue, type IssueCode, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import { describeValue, isObject, type Json, OPERATORS, type Operator, suggestOperator } from '../operators/index.ts';
import { fieldKind, findField, operatorsOf, quote, type Resource, summarise, typeOf } from '../resources/index.ts';
import type { FilterItem, RequestLimits } from './api-request.ts';
import { parseOperandText, type QueryTree } from './query-string.ts';

/** A `where`: a branch of the query string, or a member of a body. */
export type WhereNode = QueryTree | Json | undefined;

/**
 * Parses `{ status: 'draft', views: { gt: 3, lt: 9 } }`, from a query string or a body. A field with a plain value is
 * compared by `eq`; a field with an object by the operators that the object names.
 */
export function parseWhere(node: WhereNode, limits: RequestLimits, issues: Issue[]): readonly FilterItem[] {
  if (node === undefined) return [];
  const fields = toGroup(node);
  if (fields !== undefined) return parseFields({ member: 'where', fields, limits }, issues);
  const detail = `expected fields with values, such as where[status]=draft, given ${isTree(node) ? 'a group' : describeValue(node)}`;
  issues.push({ path: 'where', code: 'type', detail });
  return [];
}

/** Parses the `filter` of createIfNotExists and updateIfExists: like `where` of a body, with at least one field. */
export function parseFilterMember(filter: Json | undefined, limits: RequestLimits, issues: Issue[]): readonly FilterItem[] {
  if (filter === undefined) return [];
  const fields = isObject(filter) ? Object.entries(filter) : [];
  if (fields.length > 0) return parseFields({ member: 'filter', fields, limits }, issues);
  const given = isObject(filter) ? 'an empty one' : describeValue(filter);
  issues.push({
    path: 'filter',
    code: isObject(filter) ? 'tooFew' : 'type',
    detail: `expected an object with at least one field, given ${given}`,
  });
  return [];
}

interface GivenFields {
  readonly member: 'where' | 'filter';
  readonly fields: readonly (readonly [string, WhereNode])[];
  readonly limits: RequestLimits;
}

function parseFields({ member, fields, limits }: GivenFields, issues: Issue[]): readonly FilterItem[] {
  const items: FilterItem[] = [];
  for (const [field, value] of fields) {
    for (const item of parseField(member, { field, value }, issues)) items.push(item);
  }
  if (items.length > limits.whereItems)
    issues.push({ path: member, code: 'tooMany', detail: `expected at most ${limits.whereItems} comparisons, given ${items.length}` });
  const patterns = items.filter(({ operator }) => operator === 'matches').length;
  if (patterns > MAX_PATTERNS)
    issues.push({ path: member, code: 'tooMany', detail: `expected at most ${MAX_PATTERNS} comparisons with matches, given ${patterns}` });
  for (const { field, value } of items) {
    if (!Array.isArray(value) || value.length <= limits.filterListItems) continue;
    const detail = `expected at most ${limits.filterListItems} values, given ${value.length}`;
    issues.push({ path: toPath(member, field), code: 'tooMany', detail });
  }
  return items;
}

/** Maximum number of patterns in a filter. They are matched with a record without a pause, in which no other request continues. */
const MAX_PATTERNS = 5;

/** Maximum characters of a field name that a path repeats. */
const MAX_PATH_NAME = 64;

function toPath(member: string, field: string): string {
  return `${member}.${field.slice(0, MAX_PATH_NAME)}`;
}

interface GivenField {
  readonly field: string;
  readonly value: WhereNode;
}

function parseField(member: string, { field, value }: GivenField, issues: Issue[]): readonly FilterItem[] {
  const operators = toGroup(value);
  if (operators === undefined) return [toItem(field, 'eq', value)];
  if (operators.length === 0) {
    const detail = 'expected a value, or operators with values, given an empty object';
    issues.push({ path: toPath(member, field), code: 'tooFew', detail });
  }
  return operators.map(([operator, operand]) => toItem(field, operator, operand));
}

/** Returns one comparison. An operand that is a branch becomes null; query keys have at most three names, so no operand is a branch. */
function toItem(field: string, operator: string, operand: WhereNode): FilterItem {
  return { field, operator, value: operand === undefined || isTree(operand) ? null : operand };
}

/** Returns the members of a branch or an object; undefined for other values. */
function toGroup(node: WhereNode): readonly (readonly [string, WhereNode])[] | undefined {
  if (isTree(node)) return [...node];
  return isObject(node) ? Object.entries(node) : undefined;
}

function isTree(node: WhereNode): node is QueryTree {
  return node instanceof Map;
}

/** The form of a filter as sent. */
interface FilterOptions {
  /** False if values are text of a query string, to be parsed as the operator expects. */
  readonly typed: boolean;
  /** The member that contains the filter, for the paths of mistakes. */
  readonly member?: 'where' | 'filter';
}

/** Returns the condition that all comparisons of a filter hold. @throws Problem REQUEST_FIELD or REQUEST_PARAMETER that lists every mistake. */
export function resolveWhere(resource: Resource, items: readonly FilterItem[], options: FilterOptions): Condition {
  const comparisons: Comparison[] = [];
  const issues: Issue[] = [];
  for (const item of items) {
    const resolved = resolveComparison(resource, item, options);
    if ('issue' in resolved) issues.push(resolved.issue);
    else comparisons.push(resolved.comparison);
  }
  if (issues.length === 0) return { type: 'all', of: comparisons };
  throw new Problem(issues.some((issue) => issue.code === 'field') ? 'REQUEST_FIELD' : 'REQUEST_PARAMETER', summarise(issues), {
    errors: issues,
  });
}

/** Returns a text that is equal for filters with the same meaning, regardless of the order of fields and the spelling of values. Names of locks use the text. */
export function filterKey(resource: Resource, filter: Condition): string {
  const comparisons = filter.type === 'all' ? filter.of : [filter];
  return comparisons
    .map((each) => (each.type === 'comparison' ? comparisonKey(resource, each) : JSON.stringify(each)))
    .sort()
    .join(' ');
}

function comparisonKey(resource: Resource, { path, operator, operand }: Comparison): string {
  const value = operand.type === 'literal' ? operand.value : null;
  const field = resource.fields.get(path.text.slice('resource.'.length));
  const canonical = (each: Json): Json => (field && typeOf(field.of ?? field).toCanonical?.(each, field.of ?? field)) ?? each;
  switch (OPERATORS.get(operator)?.operand) {
    case 'scalar':
      return JSON.stringify([path.text, operator, canonical(value)]);
    case 'scalars': {
      const items = Array.isArray(value) ? value : [value];
      return JSON.stringify([path.text, operator, [...new Set(items.map((item: Json) => JSON.stringify(canonical(item))))].sort()]);
    }
    default:
      return JSON.stringify([path.text, operator, value]);
  }
}

type Resolved = { readonly comparison: Comparison } | { readonly issue: Issue };

function resolveComparison(resource: Resource, item: FilterItem, { typed, member = 'where' }: FilterOptions): Resolved {
  const found = findField(resource, item.field, 'filter');
  if ('issue' in found) return { issue: { ...found.issue, path: `${member}.${found.issue.path}` } };
  const { field } = found;
  const refuse = (code: IssueCode, detail: string): Resolved => ({
    issue: { path: `${member}.${field.name}.${item.operator.slice(0, 64)}`, code, detail },
  });
  const operator = OPERATORS.get(item.operator);
  const kind = fieldKind(field);
  if (operator === undefined || kind === undefined || !operatorsOf(field).includes(operator))
    return refuse('operator', describeWrongOperator(field, item.operator));
  const operand = typed ? { value: item.value } : parseOperandText(item.value, operator.operand, kind);
  if ('detail' in operand) return refuse('value', operand.detail);
  const mistake = validateOperand(operator, operand.value, kind) ?? validateEnum(operator, operand.value, field);
  if (mistake !== undefined) return refuse('value', mistake);
  return { comparison: toComparison(field, operator, toStoredForm(operand.value, operator, field)) };
}

function describeWrongOperator(field: Field, name: string): string {
  const fitting = operatorsOf(field).map((operator) => operator.name);
  if (OPERATORS.has(name))
    return `operator "${name}" does not fit ${field.name}, which has the type ${field.type}; it takes ${fitting.join(', ')}`;
  return `unknown operator ${quote(name)}${suggestOperator(name, fitting)}`;
}

function validateOperand(operator: Operator, value: Json, kind: PathKind): string | undefined {
  // No stored field is JSON null, so no value would ever be equal.
  if (Array.isArray(value) ? value.includes(null) : value === null)
    return 'expected a value, given null; use isNull to match records without a value';
  return operator.validateOperand(value, kind);
}

/** Returns a mistake for a value that the enum lacks, so the client gets an error instead of an empty list. Operators on parts of a text (`contains`) accept any value. */
function validateEnum(operator: Operator, value: Json, field: Field): string | undefined {
  const { values } = field.of ?? field;
  if (values === undefined || !COMPARES_VALUES.has(operator.operand)) return undefined;
  const domain = memoize(domains, field, () => createTextDomain(values));
  return validateLiteralValues({ type: 'literal', value }, operator, { name: field.name, domain });
}

const domains = new WeakMap<Field, ValueDomain>();

const COMPARES_VALUES: ReadonlySet<Operator['operand']> = new Set<Operator['operand']>(['scalar', 'scalars', 'range']);

// Returns the value in the form in which it is stored. Emails and UUIDs are stored in lower case, also as items of a list; a filter may
// use any case.
function toStoredForm(value: Json, operator: Operator, field: Field): Json {
  const compared = field.of ?? field;
  const { kind, toCanonical } = typeOf(compared);
  if (kind !== 'text' || toCanonical === undefined) return value;
  if (operator.operand === 'scalar') return toCanonical(value, compared);
  return operator.operand === 'scalars' && Array.isArray(value) ? value.map((item: Json) => toCanonical(item, compared)) : value;
}

function toComparison(field: Field, operator: Operator, value: Json): Comparison {
  return {
    type: 'comparison',
    path: { group: 'resource', keys: [field.name], text: `resource.${field.name}` },
    operator: operator.name,
    operand: { type: 'literal', value },
    ifExists: false,
  };
}
