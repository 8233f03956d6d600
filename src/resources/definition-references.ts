import { didYouMean } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { DefinitionMistake } from './definition-mistake.ts';
import type { Definitions, Resource } from './resource.ts';

/** Mistakes that only show beside the other definitions: references to resources that none of `known` names. */
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

/** Records that would be kept, deleted, when what they refer to is gone for good. Both are mistakes that only show beside the other definitions. */
export function validateCascades(resource: Resource, definitions: Definitions): readonly DefinitionMistake[] {
  return [...resource.fields.values()].flatMap((field): readonly DefinitionMistake[] => {
    const target = outlived(definitions, resource, field);
    if (target === undefined) return [];
    const path = ['fields', field.name, ...(field.of === undefined ? [] : ['of']), 'onDelete'];
    const others = field.of === undefined ? 'restrict or setNull' : 'restrict';
    const instead = target.name === 'User' ? `expected ${others}` : `give ${target.name} softDelete too, or use ${others}`;
    return [
      { path, on: 'value', detail: `deleted records are kept, and a deleted ${target.name}, to which they refer, is not: ${instead}` },
    ];
  });
}

/** What records would go with by this field, and be kept, while that is gone for good. */
export function outlived(definitions: Definitions, resource: Resource, field: Field): Resource | undefined {
  const { to, onDelete } = field.of ?? field;
  const target = resource.softDelete && onDelete === 'cascade' ? definitions.get(to ?? '') : undefined;
  return target?.softDelete === false ? target : undefined;
}
