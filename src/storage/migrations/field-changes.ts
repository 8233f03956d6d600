import { FIELD_TYPES, type Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import { describeImpossibleConversion } from './convert-value.ts';
import type { TableState } from './table-state.ts';

/** Where a field's values are now, and as what they were written; undefined where that is not known. */
interface Origin {
  readonly from: string;
  readonly before: Field | undefined;
}

/** Why the values in a column can never become those of the field, in words; empty where they are, or have their chance. */
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
  // What a column that does not fit its own definition holds is anyone's guess.
  const written = before ?? field;
  const needed = dialect.columnTypes[typeOf(written).column];
  if (column !== undefined && column.type !== needed)
    return [`${name} would need a column of type ${needed}, and there is one of type ${column.type}; ${OTHERWISE}`];
  if (column !== undefined && column.refers !== written.to) {
    const is = column.refers === undefined ? 'does not refer to records yet' : `refers to ${column.refers}`;
    return [`${name} ${is}, and stored values cannot follow; ${OTHERWISE}`];
  }
  return [];
}

const OTHERWISE = 'add a field of another name instead';

/** A change of type for which stored values have to be converted; undefined where there is none. */
export function describeTypeChange(before: Field, after: Field): string | undefined {
  if (before.type !== after.type) {
    const widens = FIELD_TYPES.get(before.type)?.widensTo.includes(after.type) === true;
    return widens ? undefined : `changes from ${before.type} to ${after.type}`;
  }
  // Two places unless said, in both.
  if (before.type === 'decimal' && scaleOf(before) !== scaleOf(after))
    return `changes from ${scaleOf(before)} to ${scaleOf(after)} decimal places`;
  if (before.to !== after.to) return `changes from a reference to ${before.to} into one to ${after.to}`;
  if (before.of === undefined || after.of === undefined) return undefined;
  const items = describeTypeChange(before.of, after.of);
  return items === undefined ? undefined : `has items whose type ${items}`;
}

function scaleOf(field: Field): number {
  return field.scale ?? 2;
}

/** Options that are checked when values are written, and for which no table is touched. */
const CHECKED = ['min', 'max', 'minLength', 'maxLength', 'pattern'] as const;
const QUIET = ['required', 'default', 'values', 'readOnly', 'writeOnly', 'immutable', 'guarded', 'onDelete'] as const;

/** What is different about a field without its column being touched, in words. */
export function describeChanges(before: Field, after: Field): readonly string[] {
  const changes: string[] = [];
  if (before.type !== after.type && describeTypeChange(before, after) === undefined)
    changes.push(`${after.name} widens from ${before.type} to ${after.type}`);
  for (const option of QUIET) {
    if (!isSame(before[option], after[option]))
      changes.push(`${after.name}: ${option} was ${show(before[option])}, is ${show(after[option])}`);
  }
  for (const option of CHECKED) {
    if (isSame(before[option], after[option])) continue;
    changes.push(
      `${after.name}: ${option} was ${show(before[option])}, is ${show(after[option])} (for values to come; stored ones are not checked)`,
    );
  }
  if (before.writeOnly && !after.writeOnly) changes.push(`${after.name} was secret, and what is stored of it will be shown`);
  if (before.of !== undefined && after.of !== undefined) changes.push(...describeChanges(before.of, after.of));
  return changes;
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function show(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
