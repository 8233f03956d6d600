/** The hierarchy of the records of a resource: each refers to its parent. */
import type { PathKind } from '../conditions/index.ts';
import type { Field } from '../fields/index.ts';
import { targetName } from './automatic-fields.ts';
import type { Report } from './definition-mistake.ts';
import { quote } from './definition-names.ts';
import { fieldKind } from './resolve-field.ts';
import type { Definitions } from './resource.ts';
import type { FieldAt } from './stored-rows.ts';

/** Returns the name of the field that refers to the parent of a record; undefined if there is none. Reports fields that cannot have `hierarchy`. */
export function findHierarchy(resource: string, fields: ReadonlyMap<string, Field>, report: Report): string | undefined {
  let found: string | undefined;
  for (const { name, hierarchy, to, of } of fields.values()) {
    const path = ['fields', name];
    if (of?.hierarchy === true)
      report([...path, 'of', 'hierarchy'], 'expected a single reference, because a record has one parent, given a list');
    if (hierarchy !== true) continue;
    if (to !== resource) {
      const detail = `expected a reference to ${quote(resource)} itself, because the parent is a record of the same resource, given one to ${quote(to ?? '')}`;
      report([...path, 'hierarchy'], detail);
    } else if (found !== undefined) {
      report([...path, 'hierarchy'], `expected one field with hierarchy, given ${quote(found)} and ${quote(name)}`);
    }
    found ??= name;
  }
  return found;
}

/** A field that a path reaches. */
interface ReachedField extends Pick<FieldAt, 'field' | 'of'> {
  readonly via?: FieldAt['via'];
  /** True if the path follows a reference to the record of the field; by default, if `via` is not empty. */
  readonly isReached?: boolean;
}

/**
 * Returns the kind of the values at a field that a path reaches, with the hierarchy of the records that the values identify; undefined if they cannot
 * be compared.
 */
export function kindAt(definitions: Definitions, { field, of, via = [], isReached = via.length > 0 }: ReachedField): PathKind | undefined {
  const kind = fieldKind(field);
  if (kind === undefined || field.of !== undefined) return kind;
  const isOwn = field.name === 'id';
  const resource = isOwn ? of : definitions.get(targetName(field) ?? '');
  if (resource?.hierarchy === undefined) return kind;
  const parent = isOwn && !isReached ? resource.hierarchy : undefined;
  return { ...kind, hierarchy: { resource: resource.name, ...(parent !== undefined && { parent }) } };
}
