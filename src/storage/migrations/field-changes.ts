import { FIELD_TYPES, type Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import { describeImpossibleConversion } from './convert-value.ts';
import type { TableState } from './table-state.ts';

/** The column that has the values of a field, and the field definition under which the values were written; undefined if unknown. */
interface Origin {
  readonly from: string;
  readonly before: Field | undefined;
}

/** Returns the reason why no value of a column can be used for a field; empty if all values can be used or some can be converted. */
export function findIncompatibilities(
  { resource, actual, dialect }: TableState,
  field: Field,
  { from, before }: Origin,
): readonly string[] {
  const name = `${resource.name}.${field.name}`;
  const column = actual.columns.get(from);
  const change = before && describeTypeChange(before, field);
  const impossible = before !== undefined && change !== undefined ? describeImpossibleConversion(before, field) : undefined;
  if (impossible !== undefined) return [`${name} ${change}, and ${impossible}; ${OTHERWISE}`];
  // A column that does not match its own definition was changed by hand: its values cannot be interpreted.
  const written = before ?? field;
  const needed = dialect.columnTypes[typeOf(written).column];
  if (column !== undefined && column.type !== needed)
    return [`${name} needs a column of type ${needed}, but the existing one has type ${column.type}; ${OTHERWISE}`];
  if (column !== undefined && column.references !== written.to) {
    const is = column.references === undefined ? 'has a column without a foreign key' : `has a column that references ${column.references}`;
    return [`${name} ${is}, so its values cannot be used; ${OTHERWISE}`];
  }
  return [];
}

const OTHERWISE = 'add a field with another name instead';

/** Describes a change of type that needs a conversion of stored values; undefined if no conversion is needed. */
export function describeTypeChange(before: Field, after: Field): string | undefined {
  if (before.type !== after.type) {
    const widens = FIELD_TYPES.get(before.type)?.widensTo.includes(after.type) === true;
    return widens ? undefined : `changes from ${before.type} to ${after.type}`;
  }
  if (before.type === 'decimal' && scaleOf(before) !== scaleOf(after))
    return `changes from ${scaleOf(before)} to ${scaleOf(after)} decimal places`;
  if (before.to !== after.to) return `changes from a reference to ${before.to} into one to ${after.to}`;
  if (before.of === undefined || after.of === undefined) return undefined;
  const items = describeTypeChange(before.of, after.of);
  return items === undefined ? undefined : `has items whose type ${items}`;
}

/** Returns the scale of a field, or the default scale of its type. */
function scaleOf(field: Field): number {
  return field.scale ?? 2;
}

/** The options that apply to new values only; stored values are not checked. */
const LIMITS = ['min', 'max', 'minLength', 'maxLength', 'pattern'] as const;
const OTHER_OPTIONS = ['required', 'default', 'values', 'readOnly', 'writeOnly', 'immutable', 'guarded', 'onDelete', 'hierarchy'] as const;

/** Describes the changes of a field that leave its column as it is. */
export function describeChanges(before: Field, after: Field): readonly string[] {
  const changes: string[] = [];
  if (before.type !== after.type && describeTypeChange(before, after) === undefined)
    changes.push(`${after.name} widens from ${before.type} to ${after.type}`);
  for (const option of OTHER_OPTIONS) {
    if (!isSame(before[option], after[option]))
      changes.push(`${after.name}: ${option} was ${show(before[option])}, is ${show(after[option])}`);
  }
  for (const option of LIMITS) {
    if (isSame(before[option], after[option])) continue;
    changes.push(
      `${after.name}: ${option} was ${show(before[option])}, is ${show(after[option])} (applies to new values; stored values are not checked)`,
    );
  }
  if (before.writeOnly && !after.writeOnly) changes.push(`${after.name} was writeOnly; its stored values become readable`);
  if (before.of !== undefined && after.of !== undefined) changes.push(...describeChanges(before.of, after.of));
  return changes;
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function show(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
