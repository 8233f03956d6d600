import { didYouMean } from '../errors.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
const INTERNAL_NAME = /^_?[A-Za-z][A-Za-z0-9_]{0,62}$/;

// `POST /api/batch` would be hidden behind them or hide them; `schema` likewise in the place of an id.
const RESERVED_RESOURCES: ReadonlySet<string> = new Set(['batch', 'schema']);
// The member of a shown record that is no field of it.
const EXPAND = 'expand';
// Prefixes of tables that databases keep for themselves.
const RESERVED_PREFIXES = ['sqlite_', 'pg_'];
// Names that every JavaScript object answers to: no record, however it was made, should seem to have such a field.
const INHERITED: ReadonlySet<string> = new Set(
  [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].map((name) => name.toLowerCase()),
);

/** What is wrong with the name of a resource; undefined where nothing is. */
export function validateResourceName(name: string, options: { builtIn: boolean }): string | undefined {
  if (!(options.builtIn ? INTERNAL_NAME : NAME).test(name)) return wrongForm(name);
  if (RESERVED_RESOURCES.has(name.toLowerCase())) return `expected another name: "${name}" is an address of its own`;
  return checkReserved(name);
}

/** What is wrong with the name of a field; undefined where nothing is. */
export function validateFieldName(name: string): string | undefined {
  return NAME.test(name) ? checkReserved(name) : wrongForm(name);
}

/** What is wrong with giving a field this name now; what was accepted before it was taken may go on, or be renamed. */
export function validateNewFieldName(name: string): string | undefined {
  if (name === EXPAND) return `expected another name: under "${EXPAND}" a record shows what it refers to`;
  return validateFieldName(name);
}

/** ` (did you mean …?)` and the whole list where it is short, after an unknown name. */
export function suggest(given: string, known: Iterable<string>): string {
  const names = [...known];
  return names.length > 12 ? didYouMean(given, names) : suggestAll(given, names);
}

/** The same, however long the list is. */
export function suggestAll(given: string, known: Iterable<string>): string {
  const names = [...known];
  const near = didYouMean(given, names);
  return near !== '' || names.length === 0 ? near : ` (known: ${names.join(', ')})`;
}

/** A name from outside as messages quote it, cut where it is long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

function checkReserved(name: string): string | undefined {
  const lower = name.toLowerCase();
  const prefix = RESERVED_PREFIXES.find((reserved) => lower.startsWith(reserved));
  if (prefix !== undefined) return `expected another name: those beginning with "${prefix}" belong to the database`;
  return INHERITED.has(lower) ? `expected another name: "${name}" is reserved` : undefined;
}

function wrongForm(name: string): string {
  return `expected a name of 1 to 63 letters, digits and underscores that begins with a letter, given ${quote(name)}`;
}
