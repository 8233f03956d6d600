/** The records whose ids conditions contain. */
import { idsIn } from '../names-by-id.ts';
import type { RecordReference } from '../record-names.ts';
import { type ConditionForm, readCondition } from './condition-json.ts';
import { type Catalogue, type PathOption, relatedPathsFor, targetOf } from './condition-paths.ts';
import { isReference } from './operand-forms.ts';

/** Returns the records whose ids conditions contain. `options` are the paths that the conditions can read. */
export function referencesInConditions(
  conditions: readonly unknown[],
  catalogue: Catalogue,
  options: readonly PathOption[],
): readonly RecordReference[] {
  return conditions.flatMap((condition) => referencesOf(readCondition(condition), catalogue, options));
}

function referencesOf(form: ConditionForm, catalogue: Catalogue, options: readonly PathOption[]): readonly RecordReference[] {
  switch (form.type) {
    case 'comparison':
      return toReferences(form.path, form.value, options);
    case 'not':
      return referencesInConditions([form.of], catalogue, options);
    case 'allOf':
    case 'anyOf':
      return referencesInConditions(form.of, catalogue, options);
    case 'related': {
      const { resource, as, on, where = [] } = form;
      const related = [...options, ...relatedPathsFor(catalogue, resource, as)];
      const links = Object.entries(on).flatMap(([field, value]) => toReferences(`${as}.${field}`, value, related));
      return [...links, ...referencesInConditions(where, catalogue, related)];
    }
    default:
      return [];
  }
}

function toReferences(path: string, value: unknown, options: readonly PathOption[]): readonly RecordReference[] {
  const resource = targetOf(path, options);
  if (resource === undefined) return [];
  return idsIn(value).flatMap((id) => (isReference(id) ? [] : [{ resource, id }]));
}
