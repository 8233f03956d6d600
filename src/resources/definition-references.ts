import type { Field } from '../fields/index.ts';
import { isObject, type Json, ownValue } from '../operators/index.ts';
import type { DefinitionMistake } from './definition-mistake.ts';
import { quote, suggest } from './definition-names.ts';
import type { Definitions, Resource } from './resource.ts';

/** Names that fields can refer to. */
interface ReferenceNames {
  /** The names of all definitions. */
  readonly known: ReadonlySet<string>;
  /** New names by former names, of resources that were renamed. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** Returns a mistake for each reference of a definition to an unknown resource, also if the definition has other mistakes. */
export function findUnknownReferences(source: Json, { known, renamed }: ReferenceNames): readonly DefinitionMistake[] {
  const fields = isObject(source) ? ownValue(source, 'fields') : undefined;
  if (!isObject(fields)) return [];
  return Object.entries(fields).flatMap(([name, field]) => {
    const item = isObject(field) ? ownValue(field, 'of') : undefined;
    return [
      { to: isObject(field) ? ownValue(field, 'to') : undefined, path: ['fields', name, 'to'] },
      { to: isObject(item) ? ownValue(item, 'to') : undefined, path: ['fields', name, 'of', 'to'] },
    ].flatMap(({ to, path }): readonly DefinitionMistake[] => {
      if (typeof to !== 'string' || known.has(to)) return [];
      const now = renamed.get(to);
      const near = now === undefined ? suggest(to, known) : ` (it is now named "${now}")`;
      return [{ path, on: 'value', detail: `unknown resource ${quote(to)}${near}` }];
    });
  });
}

/** Returns a mistake for each `onDelete: cascade` reference from a resource with soft deletes to a resource without: the referencing records would outlive the referenced record. */
export function validateCascades(resource: Resource, definitions: Definitions): readonly DefinitionMistake[] {
  return [...resource.fields.values()].flatMap((field): readonly DefinitionMistake[] => {
    const target = findCascadeConflict(definitions, resource, field);
    if (target === undefined) return [];
    const path = ['fields', field.name, ...(field.of === undefined ? [] : ['of']), 'onDelete'];
    const others = field.of === undefined ? 'restrict or setNull' : 'restrict';
    const instead = target.name === 'User' ? `expected ${others}` : `give ${target.name} softDelete too, or use ${others}`;
    return [
      { path, on: 'value', detail: `a resource with softDelete cannot cascade from ${target.name}, which has no softDelete: ${instead}` },
    ];
  });
}

/** Returns the referenced resource if it has no soft deletes while the referencing records are soft-deleted by cascade. */
export function findCascadeConflict(definitions: Definitions, resource: Resource, field: Field): Resource | undefined {
  const { to, onDelete } = field.of ?? field;
  const target = resource.softDelete && onDelete === 'cascade' ? definitions.get(to ?? '') : undefined;
  return target?.softDelete === false ? target : undefined;
}
