/** The editors of the right side of a comparison: which one fits an operator and a path, and how it reads and writes the value. */
import { hasLineBreak } from '../line-breaks.ts';
import { toLocalTime } from '../local-time.ts';
import type { Catalogue, Kind, PathOption } from './condition-paths.ts';

/** An operator of conditions. */
export type Operator = Catalogue['operators'][number];

/** The editor of an operand. `json` edits any value as JSON text, also one that does not fit the operator. */
export type OperandForm =
  | 'reference'
  | 'choice'
  | 'choices'
  | 'text'
  | 'number'
  | 'boolean'
  | 'date'
  | 'instant'
  | 'record'
  | 'records'
  | 'list'
  | 'range'
  | 'duration'
  | 'timesOfDay'
  | 'daysOfWeek'
  | 'networks'
  | 'json';

/**
 * Returns the operators that fit the kind of a path; all of them if the kind is not known. Those that need a hierarchy fit only paths that
 * identify a record of one.
 */
export function operatorsFor(catalogue: Catalogue, option: PathOption | undefined): readonly Operator[] {
  const kind = option?.kind;
  return catalogue.operators.filter(
    ({ kinds, needsHierarchy }) =>
      (kind === undefined || kinds.includes(kind)) && (needsHierarchy !== true || option?.hierarchy !== undefined),
  );
}

/** Returns the editor that shows this value without loss. */
export function operandForm(operator: Operator | undefined, option: PathOption | undefined, value: unknown): OperandForm {
  if (isReference(value)) return 'reference';
  const form = wantedForm(operator, option);
  const isShown = form === 'range' ? isRangeOf(scalarForm(option), value) : fits(form, value);
  return isShown ? form : 'json';
}

/** Returns the editor of an operator's own values. */
export function wantedForm(operator: Operator | undefined, option: PathOption | undefined): OperandForm {
  switch (operator?.operand) {
    case 'boolean':
    case 'duration':
    case 'timesOfDay':
    case 'daysOfWeek':
    case 'networks':
    case 'range':
      return operator.operand;
    case 'text':
    case 'pattern':
      return 'text';
    case 'recordIds':
      return option?.hierarchy === undefined ? 'list' : 'records';
    case 'scalars':
      return option?.values === undefined ? 'list' : 'choices';
    case 'time':
      return option?.kind === 'date' ? 'date' : 'instant';
    case 'scalar':
      return scalarForm(option);
    default:
      return 'json';
  }
}

/** Returns the editor of one value of a path, or of one item of its list. */
export function scalarForm(option: PathOption | undefined): OperandForm {
  if (option?.values !== undefined) return 'choice';
  const kind = option?.kind === 'list' ? option.itemKind : option?.kind;
  switch (kind) {
    case 'boolean':
    case 'number':
    case 'date':
      return kind;
    case 'timestamp':
      return 'instant';
    case 'text':
      return option?.to === undefined ? 'text' : 'record';
    case 'decimal':
      return 'text';
    default:
      return 'json';
  }
}

function fits(form: OperandForm, value: unknown): boolean {
  switch (form) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return value === '' || typeof value === 'number';
    case 'choice':
      return typeof value === 'string' || typeof value === 'number';
    case 'choices':
      return isListOf(value, ['string', 'number']);
    case 'list':
      return isListOf(value, ['string', 'number', 'boolean']);
    case 'records':
      return typeof value === 'string' || isListOf(value, ['string']);
    case 'timesOfDay':
      return Array.isArray(value) && value.length === 2;
    case 'daysOfWeek':
      return isListOf(value, ['number']);
    case 'networks':
      return typeof value === 'string' || isListOf(value, ['string']);
    case 'date':
      return value === '' || (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value));
    case 'instant':
      return value === '' || (typeof value === 'string' && toLocalTime(value) !== undefined);
    case 'duration':
      return value === '' || (typeof value === 'string' && readDuration(value) !== undefined);
    case 'text':
      // A field of one line would hide line breaks, and lose them with the first input.
      return typeof value === 'string' && !hasLineBreak(value);
    case 'record':
      return typeof value === 'string';
    default:
      return true;
  }
}

/** Returns true for two bounds that a field of the form can show. The bounds of a new range are empty. */
function isRangeOf(form: OperandForm, value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((item) => item === '' || (!isReference(item) && fits(form, item)));
}

function isListOf(value: unknown, types: readonly string[]): boolean {
  return Array.isArray(value) && value.every((item) => types.includes(typeof item));
}

/** Returns the value with which an editor starts. A choice and a number start empty: another value would be stored without being chosen. */
export function initialValue(operator: Operator | undefined, option: PathOption | undefined): unknown {
  switch (wantedForm(operator, option)) {
    case 'boolean':
      return true;
    case 'choices':
    case 'list':
    case 'records':
    case 'daysOfWeek':
    case 'networks':
      return [];
    case 'range':
      return ['', ''];
    case 'timesOfDay':
      return ['09:00', '17:00'];
    case 'duration':
      return '24h';
    default:
      return '';
  }
}

/** Returns the ids that an operand names: one text, or a list of texts. */
export function toIds(value: unknown): readonly string[] {
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id) => typeof id === 'string' && id !== '') as readonly string[];
}

/** Returns the value for another operator: the present one if its editor shows it too. */
export function keepValue(operator: Operator | undefined, option: PathOption | undefined, value: unknown): unknown {
  if (value === undefined || value === '') return initialValue(operator, option);
  return operandForm(operator, option, value) === 'json' && wantedForm(operator, option) !== 'json'
    ? initialValue(operator, option)
    : value;
}

/** Returns an item of a list as the kind of the path wants it: a number for paths with numbers, and `true` or `false` for those with booleans. */
export function toItem(text: string, kind: Kind | undefined): string | number | boolean {
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const number = Number(text);
  return kind === 'number' && text.trim() !== '' && Number.isFinite(number) ? number : text;
}

/** Returns true for a text that is only `${path}`. */
export function isReference(value: unknown): value is string {
  return typeof value === 'string' && /^\$\{[^${}]*\}$/.test(value);
}

/** Returns the path of a reference. */
export function referencedPath(reference: string): string {
  return reference.slice(2, -1);
}

/** Returns a reference to a path. */
export function toReference(path: string): string {
  return `\${${path}}`;
}

/**
 * Returns the reference with which the comparison with a path starts: to ids of the hierarchy that the path belongs to, from another part of the
 * request; otherwise to the user.
 */
export function suggestReference(options: readonly PathOption[], compared: PathOption | undefined): string {
  const groupOf = (path: string): string => path.slice(0, path.indexOf('.'));
  const hierarchy = compared?.hierarchy;
  const found = options.find(
    ({ path, to }) => hierarchy !== undefined && to === hierarchy && groupOf(path) !== groupOf(compared?.path ?? ''),
  );
  return toReference(found?.path ?? 'user.id');
}

/** The units of durations. */
export const DURATION_UNITS = ['s', 'm', 'h', 'd', 'w'] as const;

/** Reads `24h` as a number and its unit; undefined for other forms, such as `PT30M`. */
export function readDuration(text: string): { readonly amount: number; readonly unit: string } | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text);
  return match === null ? undefined : { amount: Number(match[1]), unit: match[2] ?? '' };
}
