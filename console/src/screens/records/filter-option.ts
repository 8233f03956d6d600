import type { Schemas } from '../../api/client.ts';
import type { PathOption } from '../../components/condition/condition-paths.ts';
import type { Field } from '../../components/record-form/form-values.ts';
import { referencedResource } from '../../components/referenced-resource.ts';
import type { Comparison } from './search.ts';

/** The catalogue of the caller. */
type Catalogue = Pick<Schemas['api.OwnCatalogue'], 'fieldTypes' | 'operators'>;

/** The operators whose value is one id. */
const IDENTITIES: ReadonlySet<string> = new Set(['eq', 'ne', 'has']);

/** Returns a field of a filter as a path, for the editors of conditions. */
export function toFilterOption({ fieldTypes }: Pick<Catalogue, 'fieldTypes'>, field: Field): PathOption {
  const { name, type, of, values } = field;
  const kindOf = (wanted: string) => fieldTypes.find((each) => each.name === wanted)?.kind;
  const target = referencedResource(field);
  const possible = values ?? of?.values;
  return {
    path: name,
    kind: kindOf(type),
    ...(of !== undefined && { itemKind: kindOf(of.type) }),
    ...(target !== undefined && { to: target }),
    ...(possible !== undefined && { values: possible }),
  };
}

/** Returns true if an operand has all its values. */
export function isComplete(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isComplete);
  return value !== undefined && value !== null && value !== '';
}

/** Returns the operand of a comparison for people. */
export function printOperand(value: unknown): string {
  if (Array.isArray(value)) return value.map(printOperand).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the record that a comparison names; undefined if its value is none, or several. */
export function comparedRecord(
  fields: readonly Field[],
  { field: name, operator, value }: Comparison,
): { readonly resource: string; readonly id: string } | undefined {
  const field = fields.find((each) => each.name === name);
  const resource = field && referencedResource(field);
  const isId = typeof value === 'string' && IDENTITIES.has(operator);
  return resource !== undefined && isId ? { resource, id: value } : undefined;
}
