import { createRequire } from 'node:module';
import type * as Library from 'ajv';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { didYouMean, type Issue } from '../errors.ts';
import { FIELD_TYPES, type Field, type FieldType } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import { type Json, type JsonObject, matchesPattern } from '../operators/index.ts';
import { describeType } from './definition-mistake.ts';
import type { Resource } from './resource.ts';

const compiled = new WeakMap<Resource, ValidateFunction>();
const singles = new WeakMap<Field, Single>();

/** What is wrong with values that are given for fields of a resource: unknown names and nulls have been taken out before. */
export function validateGiven(resource: Resource, given: ReadonlyMap<Field, Json>): readonly Issue[] {
  const { measured, issues } = takeOutOversized(given);
  const validate = memoize(compiled, resource, () => compileFields(resource.fields.values()));
  return [...issues, ...checkMeasured(measured, validate)];
}

/** What is wrong with one value of a field by itself: the default in a definition, a value on its way into another type. */
export function validateFieldValue(field: Field, value: Json): readonly Issue[] {
  if (fitsPlainly(typeOf(field).jsonSchema(field), value)) return checkFormat(field, value);
  const { unnamed, validate } = memoize(singles, field, () => toSingle(field));
  const { measured, issues } = takeOutOversized(new Map([[unnamed, value]]));
  const all = [...issues, ...checkMeasured(measured, validate)];
  return all.map((issue) => ({ ...issue, path: `${field.name}${issue.path.slice(unnamed.name.length)}` }));
}

/** A field by itself. */
interface Single {
  /** Goes by the name that all have in what checks them. */
  readonly unnamed: Field;
  readonly validate: ValidateFunction;
}

interface Checkers {
  readonly ajv: Ajv;
  readonly bySchema: Map<string, ValidateFunction>;
}

/** What checks single fields, by the schema of their values: most that have a default differ in name alone. */
let checkers: Checkers | undefined;
/** What one instance keeps; then another begins. */
const MOST_CHECKERS = 50;

function toSingle(field: Field): Single {
  const unnamed = { ...field, name: 'value' };
  if (checkers === undefined || checkers.bySchema.size >= MOST_CHECKERS) checkers = { ajv: createAjv(), bySchema: new Map() };
  const { ajv, bySchema } = checkers;
  const schema = JSON.stringify(typeOf(field).jsonSchema(field));
  return { unnamed, validate: memoize(bySchema, schema, () => compileFields([unnamed], ajv)) };
}

/** The type of a field. */
export function typeOf(field: Field): FieldType {
  const type = FIELD_TYPES.get(field.type);
  if (type === undefined) throw new Error(`field ${field.name} has the unknown type ${field.type}`);
  return type;
}

// One instance for each resource: it would otherwise keep every schema that a changed definition leaves behind.
function compileFields(fields: Iterable<Field>, ajv: Ajv = createAjv()): ValidateFunction {
  const properties = Object.fromEntries([...fields].map((field) => [field.name, typeOf(field).jsonSchema(field)]));
  return ajv.compile({ type: 'object', properties });
}

function checkMeasured(given: ReadonlyMap<Field, Json>, validate: ValidateFunction): readonly Issue[] {
  const values = Object.create(null) as Record<string, Json>;
  for (const [field, value] of given) values[field.name] = value;
  const issues = validate(values) ? [] : (validate.errors ?? []).filter(isOneMistake).map(toIssue);
  const broken = new Set(issues.map((issue) => issue.path.split('.', 1)[0]));
  for (const [field, value] of given) {
    if (!broken.has(field.name)) issues.push(...checkFormat(field, value));
  }
  return issues;
}

/** What a schema cannot say, of a value that fits it. */
function checkFormat(field: Field, value: Json): readonly Issue[] {
  const detail = typeOf(field).validateValue?.(value, field);
  return detail === undefined ? [] : [{ path: field.name, code: 'format', detail }];
}

// Of a number given for an enum ajv says that it is no text, and that it is not listed.
function isOneMistake({ keyword, data }: ErrorObject): boolean {
  return keyword !== 'enum' || typeof data === 'string';
}

/**
 * Takes out texts and lists that are certainly too long, by their length alone: with every mistake to be found, the
 * schema would otherwise run patterns over a megabyte, or make an error of each of a million items.
 */
function takeOutOversized(given: ReadonlyMap<Field, Json>): { measured: ReadonlyMap<Field, Json>; issues: Issue[] } {
  const measured = new Map<Field, Json>();
  const issues: Issue[] = [];
  for (const [field, value] of given) {
    const schema = typeOf(field).jsonSchema(field);
    const most = Array.isArray(value) ? schema['maxItems'] : schema['maxLength'];
    const length = Array.isArray(value) || typeof value === 'string' ? value.length : 0;
    // A character takes one or two of JavaScript's units.
    if (typeof most !== 'number' || length <= (Array.isArray(value) ? most : 2 * most)) measured.set(field, value);
    else
      issues.push({
        path: field.name,
        code: 'tooLong',
        detail: `expected at most ${most} ${Array.isArray(value) ? 'items' : 'characters'}`,
      });
  }
  return { measured, issues };
}

function toIssue(error: ErrorObject): Issue {
  return {
    path: error.instancePath.slice(1).replaceAll('/', '.'),
    code: CODES.get(error.keyword) ?? 'format',
    detail: describeError(error),
  };
}

const CODES: ReadonlyMap<string, string> = new Map([
  ['type', 'type'],
  ['enum', 'notListed'],
  ['minimum', 'tooSmall'],
  ['maximum', 'tooLarge'],
  ['minLength', 'tooShort'],
  ['maxLength', 'tooLong'],
  ['minItems', 'tooShort'],
  ['maxItems', 'tooLong'],
  ['pattern', 'pattern'],
]);

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
]);

function describeError({ keyword, params, data, message }: ErrorObject): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type':
      return `expected ${toTypeWords(params['type'])}, given ${describeType(data)}`;
    case 'enum':
      return describeNotListed(params['allowedValues'], data);
    case 'minimum':
      return `expected at least ${limit}, given ${String(data)}`;
    case 'maximum':
      return `expected at most ${limit}, given ${String(data)}`;
    case 'minLength':
      return `expected at least ${limit} characters, given ${[...String(data)].length}`;
    case 'maxLength':
      return `expected at most ${limit} characters, given ${[...String(data)].length}`;
    case 'minItems':
      return `expected at least ${limit} items`;
    case 'maxItems':
      return `expected at most ${limit} items`;
    case 'pattern':
      return `expected text that matches ${String(params['pattern'])}`;
    default:
      return message ?? 'expected another value';
  }
}

function toTypeWords(types: unknown): string {
  const names: readonly unknown[] = Array.isArray(types) ? types : [types];
  return names.map((name) => TYPE_WORDS.get(String(name)) ?? String(name)).join(' or ');
}

function describeNotListed(allowed: unknown, given: unknown): string {
  const values = Array.isArray(allowed) ? allowed.map(String) : [];
  const near = typeof given === 'string' ? didYouMean(given, values) : '';
  const listed = values.length <= 12 ? values.join(', ') : `${values.slice(0, 12).join(', ')} and ${values.length - 12} more`;
  return `expected one of ${listed}${near}`;
}

export type { Ajv, ErrorObject, ValidateFunction };

// How ajv is to understand `pattern`: as RE2, in linear time. `code` would only be used for code written to a file.
const re2 = Object.assign(
  (source: string) => ({ test: (text: string): boolean => matchesPattern(text, source) === true, toString: () => source }),
  { code: 'matchesPattern' },
);

let loaded: typeof Library | undefined;

/**
 * Loads what values are checked with, where nothing has asked for it yet: a start does not where defaults are plain. Whoever serves requests
 * does so before the first of them writes, for which a package that is replaced later would be missing.
 */
export function loadChecks(): typeof Library {
  loaded ??= createRequire(import.meta.url)('ajv') as typeof Library;
  return loaded;
}

/** An instance of Ajv. */
export function createAjv(): Ajv {
  const { Ajv } = loadChecks();
  return new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    ownProperties: true,
    meta: false,
    validateSchema: false,
    // What a format means is said once, by the field type's checkValue.
    validateFormats: false,
    code: { regExp: re2 },
  });
}

/**
 * Whether a value certainly fits a schema, told of the few that most defaults have. False says nothing: then Ajv is asked, to load which
 * takes a twentieth of a start.
 */
export function fitsPlainly({ type, ...rest }: JsonObject, value: Json): boolean {
  switch (type) {
    case undefined:
      return hasOnly(rest, 'description');
    case 'boolean':
      return hasOnly(rest) && typeof value === 'boolean';
    case 'string':
      return hasOnly(rest, 'enum') && typeof value === 'string' && Array.isArray(rest['enum']) && rest['enum'].includes(value);
    case 'integer':
      return hasOnly(rest, 'minimum', 'maximum') && Number.isSafeInteger(value) && isWithin(rest, Number(value));
    case 'array':
      return hasOnly(rest, 'items', 'maxItems') && Array.isArray(value) && value.length === 0;
    default:
      return false;
  }
}

function hasOnly(schema: JsonObject, ...keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword));
}

function isWithin({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: JsonObject, value: number): boolean {
  return typeof minimum === 'number' && typeof maximum === 'number' && minimum <= value && value <= maximum;
}
