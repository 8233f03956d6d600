import {
  type Comparison,
  type Condition,
  createTextDomain,
  type PathKind,
  type ValueDomain,
  validateLiteralValues,
} from '../conditions/index.ts';
import { type Issue, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { memoised } from '../memoize.ts';
import { type Json, type Kind, OPERATORS, type OperandShape, type Operator, suggestOperator } from '../operators/index.ts';
import { parseJson } from '../strict-json.ts';
import { quote } from './definition-names.ts';
import { summarise } from './parse-sort.ts';
import { fieldKind, findField } from './resolve-field.ts';
import type { Resource } from './resource.ts';
import { typeOf } from './validate-shape.ts';

/** One comparison of a client's filter, as sent. */
export interface DefinedFilterItem {
  readonly field: string;
  readonly operator: string;
  readonly value: Json;
}

/** How a filter was sent. */
interface FilterOptions {
  /** `false` where values are text of a query string, to be read as what the field and the operator expect. */
  readonly typed: boolean;
  /** The member that holds the filter, for the paths of mistakes. */
  readonly member?: 'where' | 'filter';
}

/** A client's filter as a condition on the record: all of its comparisons. Every mistake is listed in the problem. */
export function parseFilter(resource: Resource, items: readonly DefinedFilterItem[], options: FilterOptions): Condition {
  const comparisons: Comparison[] = [];
  const issues: Issue[] = [];
  for (const item of items) {
    const read = readComparison(resource, item, options);
    if ('issue' in read) issues.push(read.issue);
    else comparisons.push(read.comparison);
  }
  if (issues.length === 0) return { type: 'all', of: comparisons };
  throw new Problem(issues.some((issue) => issue.code === 'field') ? 'REQUEST_FIELD' : 'REQUEST_PARAMETER', summarise(issues), {
    errors: issues,
  });
}

/** Returns one text for filters that mean the same, regardless of the order of fields and the spelling of values; used in names of locks. */
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

/** Operators that filters on a field take. Of JSON they ask only whether it is there: the rest would be tried record by record. */
export function operatorsOf(field: Field): readonly Operator[] {
  const kind = fieldKind(field)?.kind;
  if (kind === undefined) return [];
  return [...OPERATORS.values()].filter(
    (operator) => operator.kinds.includes(kind) && (kind !== 'json' || operator.definedOnMissing === true),
  );
}

type Read = { readonly comparison: Comparison } | { readonly issue: Issue };

function readComparison(resource: Resource, item: DefinedFilterItem, { typed, member = 'where' }: FilterOptions): Read {
  const found = findField(resource, item.field, 'filter');
  if ('issue' in found) return { issue: { ...found.issue, path: `${member}.${found.issue.path}` } };
  const { field } = found;
  const refuse = (code: string, detail: string): Read => ({
    issue: { path: `${member}.${field.name}.${item.operator.slice(0, 64)}`, code, detail },
  });
  const operator = OPERATORS.get(item.operator);
  const kind = fieldKind(field);
  if (operator === undefined || kind === undefined || !operatorsOf(field).includes(operator))
    return refuse('operator', describeWrongOperator(field, item.operator));
  const operand = typed ? { value: item.value } : parseOperandText(item.value, operator.operand, kind);
  if ('detail' in operand) return refuse('value', operand.detail);
  const wrong = checkOperand(operator, operand.value, kind) ?? checkEnum(operator, operand.value, field);
  if (wrong !== undefined) return refuse('value', wrong);
  return { comparison: toComparison(field, operator, toStoredForm(operand.value, operator, field)) };
}

function describeWrongOperator(field: Field, name: string): string {
  const fitting = operatorsOf(field).map((operator) => operator.name);
  if (OPERATORS.has(name)) return `operator "${name}" does not fit ${field.name}, which is a ${field.type}; it takes ${fitting.join(', ')}`;
  return `unknown operator ${quote(name)}${suggestOperator(name, fitting)}`;
}

function checkOperand(operator: Operator, value: Json, kind: PathKind): string | undefined {
  // No stored field is ever JSON's null: a comparison with it could not hold, and is surely meant otherwise.
  if (value === null) return 'expected a value, given null; isNull asks for records without one';
  return operator.checkOperand(value, kind);
}

/** Reports values that no record can have as mistakes instead of returning an empty list. Parts of a text (`contains`) are not checked. */
function checkEnum(operator: Operator, value: Json, field: Field): string | undefined {
  const { values } = field.of ?? field;
  if (values === undefined || !COMPARES_VALUES.has(operator.operand)) return undefined;
  const domain = memoised(domains, field, () => createTextDomain(values));
  return validateLiteralValues({ type: 'literal', value }, operator, { name: field.name, domain });
}

const domains = new WeakMap<Field, ValueDomain>();

const COMPARES_VALUES: ReadonlySet<Operator['operand']> = new Set<Operator['operand']>(['scalar', 'scalars', 'range']);

// Emails and UUIDs are kept in lower case: who looks for one in another case means the same.
function toStoredForm(value: Json, operator: Operator, field: Field): Json {
  const { kind, toCanonical } = typeOf(field);
  if (kind !== 'text' || toCanonical === undefined) return value;
  if (operator.operand === 'scalar') return toCanonical(value, field);
  return operator.operand === 'scalars' && Array.isArray(value) ? value.map((item: Json) => toCanonical(item, field)) : value;
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

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Maximum nesting of a list in a query string: its items are plain values. */
const LIST_DEPTH = 2;

type ReadText = { readonly value: Json } | { readonly detail: string };

/** The text of a query string, read as the operand that an operator on a field of this kind expects. */
export function parseOperandText(given: Json, shape: OperandShape, { kind, itemKind }: PathKind): ReadText {
  if (typeof given !== 'string') return { detail: 'expected text' };
  switch (shape) {
    case 'scalar':
      return readScalar(given, kind === 'list' ? itemKind : kind);
    case 'scalars':
    case 'range':
      return readSeveral(given, kind === 'list' ? itemKind : kind);
    case 'daysOfWeek':
      return readSeveral(given, 'number');
    case 'timesOfDay':
      return readSeveral(given, 'text');
    case 'networks':
      return given.includes(',') || given.startsWith('[') ? readSeveral(given, 'text') : { value: given };
    case 'boolean':
      return readScalar(given, 'boolean');
    default:
      return { value: given };
  }
}

function readScalar(text: string, kind: Kind | undefined): ReadText {
  if (kind === 'number') {
    // An own pattern: Number() would read '' as 0 and '0x10' as 16.
    return NUMBER.test(text) && Number.isFinite(Number(text))
      ? { value: Number(text) }
      : { detail: `expected a number, given ${quoteText(text)}` };
  }
  if (kind === 'boolean') {
    return text === 'true' || text === 'false'
      ? { value: text === 'true' }
      : { detail: `expected true or false, given ${quoteText(text)}` };
  }
  return { value: text };
}

// `a,b,c`, or a JSON array for values that hold commas themselves.
function readSeveral(text: string, kind: Kind | undefined): ReadText {
  if (text.startsWith('[')) return readJsonArray(text);
  if (text === '') return { value: [] };
  const values: Json[] = [];
  for (const part of text.split(',')) {
    const read = readScalar(part, kind);
    if ('detail' in read) return read;
    values.push(read.value);
  }
  return { value: values };
}

function readJsonArray(text: string): ReadText {
  try {
    return { value: parseJson(text, { maxDepth: LIST_DEPTH, subject: 'the list' }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { detail: `expected values with commas between them, or a JSON array, given ${quoteText(text)}` };
  }
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
