import { didYouMean } from '../errors.ts';
import { type Definitions, ordinaryResources, type Resource } from './resource.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
const INTERNAL_NAME = /^_?[A-Za-z][A-Za-z0-9_]{0,62}$/;

// The routes `/api/batch` and `/api/:resource/schema` would conflict with these names.
const RESERVED_RESOURCES: ReadonlySet<string> = new Set(['batch', 'schema']);
// The member of a response with expanded records.
const EXPAND = 'expand';
// Prefixes that databases reserve for system tables.
const RESERVED_PREFIXES = ['sqlite_', 'pg_'];
// Names that every JavaScript object inherits, which could be mistaken for fields of a record.
const INHERITED: ReadonlySet<string> = new Set(
  [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].map((name) => name.toLowerCase()),
);

/** Returns the reason why the name of a resource is invalid; undefined if it is valid. */
export function validateResourceName(name: string, options: { builtIn: boolean }): string | undefined {
  if (!(options.builtIn ? INTERNAL_NAME : NAME).test(name)) return describeForm(name);
  if (RESERVED_RESOURCES.has(name.toLowerCase())) return `expected another name: "${name}" is reserved for a route`;
  return validateReserved(name);
}

/** Returns the reason why the name of a field is invalid; undefined if it is valid. */
export function validateFieldName(name: string): string | undefined {
  return NAME.test(name) ? validateReserved(name) : describeForm(name);
}

/** Returns the reason why a new field cannot have a name; undefined if the name is valid. Fields that were accepted before the name was reserved keep it. */
export function validateNewFieldName(name: string): string | undefined {
  if (name === EXPAND) return `expected another name: "${EXPAND}" is reserved for expanded records`;
  return validateFieldName(name);
}

/** Returns ` (did you mean …?)`, or the known names if none is similar and there are at most 12. */
export function suggest(given: string, known: Iterable<string>): string {
  const names = [...known];
  return names.length > 12 ? didYouMean(given, names) : suggestAll(given, names);
}

/** Returns ` (did you mean …?)`, or all known names if none is similar. */
function suggestAll(given: string, known: Iterable<string>): string {
  const names = [...known];
  const near = didYouMean(given, names);
  return near !== '' || names.length === 0 ? near : ` (known: ${names.join(', ')})`;
}

/** Suggests the field of a resource that a wrong name means: the one that had this name before, or a similar one. Never a secret field. */
export function suggestField({ fields }: Resource, given: string): string {
  const visible = [...fields.values()].filter(({ writeOnly }) => !writeOnly);
  return suggestRenamed(visible, given);
}

/** Suggests the resource that a wrong name means: the one that had this name before, or a similar one. */
export function suggestResource(definitions: Definitions, given: string): string {
  return suggestRenamed(ordinaryResources(definitions), given);
}

function suggestRenamed(known: readonly Pick<Resource, 'name' | 'renamedFrom'>[], given: string): string {
  const renamed = known.find(({ renamedFrom }) => renamedFrom === given);
  if (renamed !== undefined) return ` (it is now named "${renamed.name}")`;
  return didYouMean(
    given,
    known.map(({ name }) => name),
  );
}

/** Names of field types in other products, with ours. */
const FOREIGN_TYPES: ReadonlyMap<string, string> = new Map([
  ['array', 'list'],
  ['bigint', 'integer'],
  ['bool', 'boolean'],
  ['datetime', 'timestamp'],
  ['double', 'number'],
  ['float', 'number'],
  ['int', 'integer'],
  ['jsonb', 'json'],
  ['numeric', 'decimal'],
  ['object', 'json'],
  ['relation', 'reference'],
  ['select', 'enum'],
  ['timestamptz', 'timestamp'],
  ['varchar', 'string'],
]);

/** Suggests the field type that an unknown name means: the type with this name in other products, a similar one, or all. */
export function suggestType(given: string, known: Iterable<string>): string {
  const ours = FOREIGN_TYPES.get(given.toLowerCase());
  return ours === undefined ? suggestAll(given, known) : ` (did you mean "${ours}"?)`;
}

/** Quotes a name for a message, at most 64 characters. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

function validateReserved(name: string): string | undefined {
  const lower = name.toLowerCase();
  const prefix = RESERVED_PREFIXES.find((reserved) => lower.startsWith(reserved));
  if (prefix !== undefined) return `expected another name: the prefix "${prefix}" is reserved by the database`;
  return INHERITED.has(lower) ? `expected another name: "${name}" is reserved` : undefined;
}

function describeForm(name: string): string {
  return `expected a name of 1 to 63 letters, digits and underscores that begins with a letter, given ${quote(name)}`;
}
