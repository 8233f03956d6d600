import { didYouMean } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { DefinitionMistake } from './definition-mistake.ts';
import type { Definitions, Resource } from './resource.ts';

/** Returns a mistake for each reference to an unknown resource. `known` are the names of all definitions. */
export function validateReferences(resource: Resource, known: Iterable<string>): readonly DefinitionMistake[] {
  const names = new Set(known);
  const mistakes: DefinitionMistake[] = [];
  for (const field of resource.fields.values()) {
    for (const [to, path] of [
      [field.to, ['fields', field.name, 'to']],
      [field.of?.to, ['fields', field.name, 'of', 'to']],
    ] as const) {
      if (to === undefined || names.has(to)) continue;
      mistakes.push({ path, on: 'value', detail: `unknown resource ${JSON.stringify(to)}${didYouMean(to, names)}` });
    }
  }
  return mistakes;
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
