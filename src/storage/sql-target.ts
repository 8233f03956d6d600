import type { Path, SqlTarget } from '../condition/index.ts';
import type { SqlDialect, SqlSubject } from '../operators/index.ts';
import { columnsOf, fieldKind, type Resource, typeOf } from '../resource/index.ts';
import { columnOf } from './names.ts';

/** When and where a condition is answered. */
export interface Moment {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** A resource's columns as conditions see them. Whatever is not a shown field of its definition has none: secrets, paths into JSON. */
export function sqlTargetFor(resource: Resource, moment: Moment): SqlTarget {
  return { ...moment, column: (path) => subjectOf(resource, path), kindOf: (path) => kindOf(resource, path) };
}

/** What the definition says a path of the record compares as. */
export function kindOf(resource: Resource, path: Path): ReturnType<typeof fieldKind> {
  const field = path.group === 'resource' && path.keys.length === 1 ? resource.fields.get(path.keys[0] ?? '') : undefined;
  return field === undefined ? undefined : fieldKind(field);
}

function subjectOf(resource: Resource, path: Path): SqlSubject | undefined {
  const kind = kindOf(resource, path);
  const column = columnsOf(resource).find(({ name }) => name === path.keys[0]);
  if (kind === undefined || column === undefined) return undefined;
  const field = column.field.of ?? column.field;
  const type = typeOf(field);
  return {
    sql: columnOf(resource, column.name),
    ...kind,
    encode: (value) => type.toColumn(type.toCanonical?.(value, field) ?? value, field),
  };
}
