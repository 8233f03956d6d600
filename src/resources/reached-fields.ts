/** Paths through references and lists of references. */
import type { FollowedList } from '../conditions/index.ts';
import type { Field } from '../fields/index.ts';
import { targetName } from './automatic-fields.ts';
import type { Definitions, Resource } from './resource.ts';
import type { FieldAt } from './stored-rows.ts';

/** The field that a path leads to, also through lists of references. */
export interface FieldThrough extends Pick<FieldAt, 'field' | 'of' | 'inner'> {
  /** The resources of the records that the path reaches, in order. */
  readonly targets: readonly Resource[];
  /** The references that the path follows. */
  readonly references: readonly Field[];
  readonly lists: readonly FollowedList[];
}

/** Resolves a path like `fieldAt`, and on through lists of references. */
export function fieldThrough(definitions: Definitions, resource: Resource, keys: readonly string[]): FieldThrough | undefined {
  const targets: Resource[] = [];
  const references: Field[] = [];
  const lists: FollowedList[] = [];
  let of = resource;
  for (const [index, key] of keys.entries()) {
    const field = of.fields.get(key);
    if (field === undefined) return undefined;
    const to = followedName(field);
    if (to === undefined || index === keys.length - 1) return { field, of, inner: keys.slice(index + 1), targets, references, lists };
    const target = definitions.get(to);
    if (target === undefined) return undefined;
    if (field.of !== undefined) lists.push({ length: index + 1, resource: to });
    targets.push(target);
    references.push(field);
    of = target;
  }
  return undefined;
}

/** Returns the name of the resource that paths reach through a field: a reference, or a list of references. */
export function followedName(field: Field): string | undefined {
  return targetName(field) ?? field.of?.to;
}
