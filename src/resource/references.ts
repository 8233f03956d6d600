import { didYouMean } from '../errors.ts';
import type { DefinitionMistake } from './mistake.ts';
import type { Resource } from './resource.ts';

/** Mistakes that only show beside the other definitions: references to resources that none of `known` names. */
export function checkReferences(resource: Resource, known: Iterable<string>): readonly DefinitionMistake[] {
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
