import type { Related } from '../../conditions/index.ts';
import type { Resource } from '../../resources/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** Reports conditions whose related records no index finds. A list then reads all records of the related resource for each of its rows. */
export function lintRelated(linted: LintedRule): readonly RuleFinding[] {
  const definitions = definitionsFor(linted);
  return linted.compiled.related.flatMap((related): readonly RuleFinding[] => {
    const resource = definitions.get(related.resource);
    if (resource === undefined || hasIndex(resource, linkingFields(related))) return [];
    const fields = linkingFields(related).join(', ');
    const detail = `no index of ${resource.name} begins with ${fields}: a list reads all records of ${resource.name} for each row`;
    return [{ code: 'related-index', member: 'conditions', detail, todo: `add "indexes: [{ fields: [${fields}] }]" to ${resource.name}` }];
  });
}

function linkingFields({ on }: Related): readonly string[] {
  return on.map(({ path }) => path.keys[1] ?? '');
}

/** Returns true if an index finds few records by the values of the fields: the id, a unique field, or an index that begins with all of the fields. */
function hasIndex(resource: Resource, linking: readonly string[]): boolean {
  const isKey = (name: string): boolean => name === 'id' || resource.fields.get(name)?.unique === true;
  if (linking.some(isKey)) return true;
  const [only, ...others] = linking;
  const field = resource.fields.get(only ?? '');
  if (others.length === 0 && (field?.index === true || field?.to !== undefined)) return true;
  return resource.indexes.some(({ fields, where }) => {
    const first = fields.slice(0, linking.length);
    return where === undefined && linking.every((name) => first.includes(name));
  });
}
