import type { Field } from '../fields/index.ts';
import type { Definitions, Resource } from './resource.ts';

/** The field that keys into a record lead to. */
export interface FieldAt {
  readonly field: Field;
  /** Whose field it is. */
  readonly of: Resource;
  /** The reference by which it was reached: the field is one of the record referred to. */
  readonly via?: Field;
  /** Keys into the field's own value. */
  readonly inner: readonly string[];
}

/**
 * Where `keys` lead from a record of `resource`: to a field of its own, or through a reference to a field of the record
 * referred to, one step away and no further. Undefined where there is no such field. What is secret is found too.
 */
export function fieldAt(definitions: Definitions, resource: Resource, [key = '', ...inner]: readonly string[]): FieldAt | undefined {
  const field = resource.fields.get(key);
  const [next] = inner;
  if (field === undefined || next === undefined || field.to === undefined) return field && { field, of: resource, inner };
  const target = definitions.get(field.to);
  const reached = target?.fields.get(next);
  return target && reached && { field: reached, of: target, via: field, inner: inner.slice(1) };
}
