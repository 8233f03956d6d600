import type { ErrorObject } from 'ajv';
import { didYouMean, type Issue, type IssueCode } from '../errors.ts';
import { describeValue, type Json, MAX_MATCHING_STEPS, matchesPattern, maxMatchingSteps } from '../operators/index.ts';
import { TEXT_FORMATS } from './text-formats.ts';

/** Maximum number of unknown names with a suggestion: each suggestion compares the name with every known one. */
const MAX_SUGGESTIONS = 10;
/** Maximum number of characters of a name from outside that a message repeats. */
const MAX_NAME = 64;

/** The name of a member of the validated object in messages. */
export type Subject = 'member' | 'query parameter' | 'path parameter';

/** Returns the errors of Ajv as issues. */
export function toIssues(errors: readonly ErrorObject[], subject: Subject): Issue[] {
  let suggestions = MAX_SUGGESTIONS;
  return errors.filter(isOneMistake).map((error) => {
    const suggest = error.keyword === 'additionalProperties' && suggestions-- > 0;
    return { path: pathOf(error), code: codeOf(error), detail: detailOf(error, { subject, suggest }) };
  });
}

// Leaves out the `enum` error of a value that is not a text, because Ajv also reports the wrong type.
function isOneMistake({ keyword, data }: ErrorObject): boolean {
  return keyword !== 'enum' || typeof data === 'string';
}

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const at = instancePath.slice(1).split('/').map(fromPointer);
  const name: unknown = keyword === 'required' ? params['missingProperty'] : params['additionalProperty'];
  return [...at, ...(typeof name === 'string' ? [name.slice(0, MAX_NAME)] : [])].filter((part) => part !== '').join('.');
}

// JSON Pointer writes ~ as ~0 and / as ~1.
function fromPointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, MAX_NAME);
}

const CODES: ReadonlyMap<string, IssueCode> = new Map([
  ['additionalProperties', 'unknown'],
  ['required', 'required'],
  ['type', 'type'],
  ['enum', 'enum'],
  ['const', 'enum'],
  ['minimum', 'range'],
  ['maximum', 'range'],
  ['exclusiveMinimum', 'range'],
  ['exclusiveMaximum', 'range'],
  ['minLength', 'tooShort'],
  ['maxLength', 'tooLong'],
  ['minItems', 'tooFew'],
  ['maxItems', 'tooMany'],
  ['minProperties', 'tooFew'],
  ['maxProperties', 'tooMany'],
  ['uniqueItems', 'duplicate'],
  ['pattern', 'pattern'],
]);

function codeOf({ keyword, params, data }: ErrorObject): IssueCode {
  if (keyword === 'format') return TEXT_FORMATS.get(String(params['format']))?.(String(data))?.code ?? 'format';
  if (keyword === 'pattern' && isTooLongToMatch(String(data), String(params['pattern']))) return 'tooLong';
  return CODES.get(keyword) ?? 'type';
}

/** Returns true if a text was not compared with a pattern, because that would take too many steps. It may match. */
function isTooLongToMatch(text: string, pattern: string): boolean {
  return matchesPattern(text, pattern) === undefined;
}

interface DetailOptions {
  readonly subject: Subject;
  /** True if a message about an unknown name suggests a known one. */
  readonly suggest: boolean;
}

function detailOf(error: ErrorObject, { subject, suggest }: DetailOptions): string {
  const { keyword, params, data, parentSchema } = error;
  switch (keyword) {
    case 'additionalProperties':
      return describeUnknown(String(params['additionalProperty']), writableMembers(parentSchema?.['properties']), { subject, suggest });
    case 'required':
      return `expected ${describeRequired(parentSchema, String(params['missingProperty']))}, given none`;
    case 'type':
      return `expected ${describeType(parentSchema, params['type'])}, given ${describeGiven(data, subject)}`;
    case 'enum':
      return describeNotListed(params['allowedValues'], data);
    case 'minimum':
    case 'maximum':
      return describeRange((parentSchema ?? {}) as Bounds, data);
    case 'format':
      return `expected ${TEXT_FORMATS.get(String(params['format']))?.(String(data))?.expected ?? params['format']}, given ${describeValue(data as Json)}`;
    case 'pattern':
      return describeMismatch(String(data), String(params['pattern']));
    default:
      return describeSize(error);
  }
}

function describeMismatch(text: string, pattern: string): string {
  if (!isTooLongToMatch(text, pattern)) return `expected text that matches ${pattern}`;
  const longest = Math.floor(MAX_MATCHING_STEPS / maxMatchingSteps('x', pattern));
  return `expected at most ${longest} characters, because a longer text takes too long to compare with ${pattern}, given ${text.length}`;
}

/** Returns the names of the members of a schema without those that only the service sets. */
function writableMembers(members: Readonly<Record<string, { readonly readOnly?: boolean }>> = {}): readonly string[] {
  return Object.keys(members).filter((name) => members[name]?.readOnly !== true);
}

/** Describes the value of a missing member: one of its permitted values, or any. */
function describeRequired(parent: ErrorObject['parentSchema'], name: string): string {
  const { properties } = (parent ?? {}) as AnySchema;
  const values = properties?.[name]?.enum;
  return values === undefined ? 'a value' : oneOf(values.map(String));
}

/** Describes values of a type: the permitted ones of an enum, the required members of an object. */
function describeType(parent: ErrorObject['parentSchema'], type: unknown): string {
  const { enum: values, required = [] } = (parent ?? {}) as AnySchema;
  if (values !== undefined) return oneOf(values.map(String));
  const members = type === 'object' && required.length > 0 ? ` with ${required.join(', ')}` : '';
  return `${toTypeWords(type)}${members}`;
}

/** The members of a schema that messages name. */
interface AnySchema {
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>>;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
}

function describeUnknown(given: string, known: readonly string[], { subject, suggest }: DetailOptions): string {
  const name = given.length > MAX_NAME ? `${given.slice(0, MAX_NAME).toWellFormed()}…` : given;
  const expected = known.length === 0 ? 'none is expected here' : `expected ${known.join(', ')}`;
  return `unknown ${subject} "${name}"${suggest ? didYouMean(given, known) : ''}, ${expected}`;
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
}

function describeRange({ minimum, maximum }: Bounds, given: unknown): string {
  // The largest integers are the bounds of the type, not of the field.
  const [low, high] = [minimum, maximum].map((bound) =>
    Math.abs(bound ?? Number.MAX_SAFE_INTEGER) < Number.MAX_SAFE_INTEGER ? bound : undefined,
  );
  if (low !== undefined && high !== undefined) return `expected a number from ${low} to ${high}, given ${String(given)}`;
  return `expected ${low === undefined ? `at most ${high ?? maximum}` : `at least ${low}`}, given ${String(given)}`;
}

const SIZES: ReadonlyMap<string, readonly [bound: 'at least' | 'at most', unit: string]> = new Map([
  ['minLength', ['at least', 'characters']],
  ['maxLength', ['at most', 'characters']],
  ['minItems', ['at least', 'items']],
  ['maxItems', ['at most', 'items']],
  ['minProperties', ['at least', 'members']],
  ['maxProperties', ['at most', 'members']],
]);

function describeSize({ keyword, params, data, message }: ErrorObject): string {
  const size = SIZES.get(keyword);
  if (size === undefined) return message ?? 'expected another value';
  const given = typeof data === 'string' ? [...data].length : Object.keys(data as object).length;
  const limit = Number(params['limit']);
  return `expected ${size[0]} ${limit} ${limit === 1 ? size[1].slice(0, -1) : size[1]}, given ${given}`;
}

/** Names the type of a value, not the value: it may be a password. A parameter of a URL is shown: each is a text, and none is a password. */
function describeGiven(value: unknown, subject: Subject): string {
  return subject !== 'member' && typeof value === 'string' ? describeValue(value) : typeWord(value);
}

function typeWord(value: unknown): string {
  if (value === null) return 'null';
  const word = TYPE_WORDS.get(Array.isArray(value) ? 'array' : typeof value);
  return value === true || value === false ? 'a boolean' : (word ?? 'nothing');
}

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
]);

function toTypeWords(types: unknown): string {
  const names: readonly unknown[] = Array.isArray(types) ? types : [types];
  return names.map((name) => TYPE_WORDS.get(String(name)) ?? String(name)).join(' or ');
}

function describeNotListed(allowed: unknown, given: unknown): string {
  const values = Array.isArray(allowed) ? allowed.map(String) : [];
  const near = typeof given === 'string' ? didYouMean(given, values) : '';
  return `expected ${oneOf(values)}${near}`;
}

/** Maximum number of permitted values that a message lists. */
const MAX_VALUES = 12;

function oneOf(values: readonly string[]): string {
  const more = values.length - MAX_VALUES;
  return `one of ${values.slice(0, MAX_VALUES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
