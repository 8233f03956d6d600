import { createHash } from 'node:crypto';
import type { Field } from '../fields/index.ts';
import type { Resource } from './resource.ts';

/**
 * SHA-256 over what storage and checks depend on. Descriptions, the order of fields, the legacy permissions and a
 * `renamedFrom` (whose new name says it already) are left out: changing them changes no table and no answer.
 */
export function hashDefinition({
  name,
  fields,
  indexes,
  softDelete,
  partitionBy,
}: Pick<Resource, 'name' | 'fields' | 'indexes' | 'softDelete' | 'partitionBy'>): string {
  const sorted = [...fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(withoutWords);
  return createHash('sha256')
    .update(toStableText({ name, fields: sorted, indexes, ...(softDelete && { softDelete }), partitionBy }))
    .digest('hex');
}

function withoutWords({ description: _description, renamedFrom: _renamedFrom, of, ...field }: Field): object {
  return of === undefined ? field : { ...field, of: withoutWords(of) };
}

// JSON with members in the order of their names, so that how a definition is laid out does not matter.
function toStableText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
