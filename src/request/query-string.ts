/** Parsing of query strings, and of the texts that they give as values. */
import type { PathKind } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import type { Json, Kind, OperandShape } from '../operators/index.ts';
import { parseJson } from '../strict-json.ts';

/** A query string such as `where[age][gt]=3&limit=5` as a tree of Maps. Names such as `__proto__` must not become names of an object. */
export type QueryTree = ReadonlyMap<string, QueryNode>;

/** The value of a key, or the values by the next name in brackets. */
export type QueryNode = string | QueryTree;

/** Limits of a query string. */
export interface QueryLimits {
  readonly parameters: number;
  /** Maximum names in one key: `where[age][gt]` has three. */
  readonly depth: number;
  /** Maximum characters of a decoded key. */
  readonly keyLength: number;
  /** Maximum characters of a decoded value. */
  readonly valueLength: number;
}

const LIMITS: QueryLimits = { parameters: 100, depth: 3, keyLength: 256, valueLength: 8192 };

/** Matches a key such as `where[age][gt]`: a name, followed by names in brackets. */
const KEY = /^([^[\]]+)((?:\[[^[\]]+\])*)$/;

type Branch = Map<string, string | Branch>;

/**
 * Parses a query string (without its `?`) into a tree. Refuses ambiguous input: a key that is given twice, a key that is both a value
 * and a group, and brackets that do not match.
 *
 * @throws Problem REQUEST_PARAMETER, or REQUEST_MALFORMED for broken percent-encoding.
 */
export function parseQuery(text: string, limits: QueryLimits = LIMITS): QueryTree {
  const root: Branch = new Map();
  const parameters = text.split('&').filter((parameter) => parameter !== '');
  if (parameters.length > limits.parameters)
    throw toParameterProblem(`expected at most ${limits.parameters} query parameters, more were given`);
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    const key = decode(equals === -1 ? parameter : parameter.slice(0, equals));
    const value = equals === -1 ? '' : decode(parameter.slice(equals + 1));
    if (value.length > limits.valueLength)
      throw toParameterProblem(`expected values of at most ${limits.valueLength} characters, ${value.length} were given`);
    addValue(root, parseKey(key, limits), value);
  }
  return root;
}

function parseKey(key: string, limits: QueryLimits): readonly string[] {
  if (key.length > limits.keyLength)
    throw toParameterProblem(`expected names of at most ${limits.keyLength} characters, ${key.length} were given`);
  const [, first, brackets] = KEY.exec(key) ?? [];
  if (first === undefined || brackets === undefined)
    throw toParameterProblem(`expected a name such as limit or where[field], "${key}" was given`);
  const names = [first, ...(brackets === '' ? [] : brackets.slice(1, -1).split(']['))];
  if (names.length > limits.depth) throw toParameterProblem(`expected at most ${limits.depth} names in a parameter, "${key}" was given`);
  return names;
}

function addValue(root: Branch, names: readonly string[], value: string): void {
  let branch = root;
  for (const name of names.slice(0, -1)) {
    const next = branch.get(name) ?? new Map<string, string | Branch>();
    if (typeof next === 'string') throw toDuplicateProblem(names);
    branch.set(name, next);
    branch = next;
  }
  const last = names.at(-1) ?? '';
  if (branch.has(last)) throw toDuplicateProblem(names);
  branch.set(last, value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the query string', { cause: error });
  }
}

function toDuplicateProblem([first, ...others]: readonly string[]): Problem {
  return toParameterProblem(`expected each query parameter once, "${first}${others.map((name) => `[${name}]`).join('')}" was given twice`);
}

function toParameterProblem(detail: string): Problem {
  return new Problem('REQUEST_PARAMETER', detail);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Maximum nesting of a JSON list in a query string. The items of the list must be plain values. */
const LIST_DEPTH = 2;

type ParsedOperand = { readonly value: Json } | { readonly detail: string };

/** Parses a text of a query string as the operand that an operator expects on a field of this kind. */
export function parseOperandText(given: Json, shape: OperandShape, { kind, itemKind }: PathKind): ParsedOperand {
  if (typeof given !== 'string') return { detail: 'expected text' };
  switch (shape) {
    case 'scalar':
      return parseScalar(given, kind === 'list' ? itemKind : kind);
    case 'scalars':
    case 'range':
      return parseList(given, kind === 'list' ? itemKind : kind);
    case 'daysOfWeek':
      return parseList(given, 'number');
    case 'timesOfDay':
      return parseList(given, 'text');
    case 'networks':
      return given.includes(',') || given.startsWith('[') ? parseList(given, 'text') : { value: given };
    case 'boolean':
      return parseScalar(given, 'boolean');
    default:
      return { value: given };
  }
}

function parseScalar(text: string, kind: Kind | undefined): ParsedOperand {
  if (kind === 'number') {
    // Number() alone would convert '' to 0 and '0x10' to 16.
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

/** Parses a list: `a,b,c`, or a JSON array if values contain commas. */
function parseList(text: string, kind: Kind | undefined): ParsedOperand {
  if (text.startsWith('[')) return parseArray(text);
  if (text === '') return { value: [] };
  const values: Json[] = [];
  for (const part of text.split(',')) {
    const item = parseScalar(part, kind);
    if ('detail' in item) return item;
    values.push(item.value);
  }
  return { value: values };
}

/** Parses a list of texts of a query string: `a,b,c`, or a JSON array if values contain commas. The caller validates the items of an array. */
export function parseTexts(text: string): ParsedOperand {
  return parseList(text, 'text');
}

function parseArray(text: string): ParsedOperand {
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
