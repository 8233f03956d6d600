import type { Issue, IssueCode } from '../errors.ts';
import { FIELD_TYPES, type Field, type FieldType, isAboutCharacters } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Ajv, createAjv, toIssues, type ValidateFunction } from '../validation/index.ts';
import type { Resource } from './resource.ts';

const compiled = new WeakMap<Resource, ValidateFunction>();
const singles = new WeakMap<Field, Single>();

/** Validates the values of a resource. Unknown names and nulls must have been removed. */
export function validateGiven(resource: Resource, given: ReadonlyMap<Field, Json>): readonly Issue[] {
  const { measured, issues } = removeOversized(given);
  const validate = memoize(compiled, resource, () => compileFields(resource.fields.values()));
  return [...issues, ...validateMeasured(measured, validate)];
}

/** Validates a single value: a default in a definition, or a value that a migration converts. */
export function validateFieldValue(field: Field, value: Json): readonly Issue[] {
  if (fitsSimpleSchema(typeOf(field).jsonSchema(field), value)) return validateFormat(field, value);
  const { unnamed, validate } = memoize(singles, field, () => toSingle(field));
  const { measured, issues } = removeOversized(new Map([[unnamed, value]]));
  const all = [...issues, ...validateMeasured(measured, validate)];
  return all.map((issue) => ({ ...issue, path: `${field.name}${issue.path.slice(unnamed.name.length)}` }));
}

/** A validator for a single field. */
interface Single {
  /** The field under a common name, so that fields with the same schema share a validator. */
  readonly unnamed: Field;
  readonly validate: ValidateFunction;
}

interface Validators {
  readonly ajv: Ajv;
  readonly bySchema: Map<string, ValidateFunction>;
}

/** Validators of single fields by schema: most fields with a default differ only in name. */
let validators: Validators | undefined;
/** Maximum validators per Ajv instance, which never releases them. */
const MAX_VALIDATORS = 50;

function toSingle(field: Field): Single {
  const unnamed = { ...field, name: 'value' };
  if (validators === undefined || validators.bySchema.size >= MAX_VALIDATORS) validators = { ajv: createAjv(), bySchema: new Map() };
  const { ajv, bySchema } = validators;
  const schema = JSON.stringify(typeOf(field).jsonSchema(field));
  return { unnamed, validate: memoize(bySchema, schema, () => compileFields([unnamed], ajv)) };
}

/** Returns the type of a field. */
export function typeOf(field: Field): FieldType {
  const type = FIELD_TYPES.get(field.type);
  if (type === undefined) throw new Error(`field ${field.name} has the unknown type ${field.type}`);
  return type;
}

/** Returns a value in the form in which it is stored; an invalid value unchanged. */
export function toStoredValue(field: Field, value: Json): Json {
  return typeOf(field).toCanonical?.(value, field) ?? value;
}

// One Ajv instance per resource, because an instance never releases the schemas of previous definitions.
function compileFields(fields: Iterable<Field>, ajv: Ajv = createAjv()): ValidateFunction {
  const properties = Object.fromEntries([...fields].map((field) => [field.name, typeOf(field).jsonSchema(field)]));
  return ajv.compile({ type: 'object', properties });
}

function validateMeasured(given: ReadonlyMap<Field, Json>, validate: ValidateFunction): readonly Issue[] {
  const values = Object.create(null) as Record<string, Json>;
  for (const [field, value] of given) values[field.name] = value;
  const issues = validate(values) ? [] : toIssues(validate.errors ?? [], 'member');
  const broken = new Set(issues.map((issue) => issue.path.split('.', 1)[0]));
  for (const [field, value] of given) {
    if (!broken.has(field.name)) issues.push(...validateFormat(field, value));
  }
  return issues;
}

/** Validates constraints that JSON Schema cannot express. */
function validateFormat(field: Field, value: Json): readonly Issue[] {
  const type = typeOf(field);
  const detail = type.validateValue?.(value, field);
  if (detail === undefined) return [];
  return [{ path: field.name, code: formatCode(field, value, detail), detail }];
}

function formatCode(field: Field, value: Json, detail: string): IssueCode {
  if (typeOf(field).isOutOfRange?.(value, field) === true) return 'range';
  return isAboutCharacters(detail) ? 'characters' : 'format';
}

/**
 * Removes texts and lists that are too long. Otherwise Ajv, which collects all errors, would match patterns against megabytes or report
 * an error for each of a million items.
 */
function removeOversized(given: ReadonlyMap<Field, Json>): { measured: ReadonlyMap<Field, Json>; issues: Issue[] } {
  const measured = new Map<Field, Json>();
  const issues: Issue[] = [];
  for (const [field, value] of given) {
    const schema = typeOf(field).jsonSchema(field);
    const most = Array.isArray(value) ? schema['maxItems'] : schema['maxLength'];
    const length = Array.isArray(value) || typeof value === 'string' ? value.length : 0;
    // A character takes one or two UTF-16 code units.
    if (typeof most !== 'number' || length <= (Array.isArray(value) ? most : 2 * most)) measured.set(field, value);
    else
      issues.push({
        path: field.name,
        code: Array.isArray(value) ? 'tooMany' : 'tooLong',
        detail: `expected at most ${most} ${Array.isArray(value) ? 'items' : 'characters'}`,
      });
  }
  return { measured, issues };
}

/**
 * Returns true if a value certainly fits a simple schema. If it returns false, Ajv must validate the value. This avoids loading Ajv for
 * most defaults, which would take 5 % of a start.
 */
export function fitsSimpleSchema({ type, ...rest }: JsonObject, value: Json): boolean {
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
