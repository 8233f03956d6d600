import type { Related } from '../../conditions/index.ts';
import { hasIndexOn } from '../../resources/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** Reports conditions whose related records no index finds. A list then reads all records of the related resource for each of its rows. */
export function lintRelated(linted: LintedRule): readonly RuleFinding[] {
  const definitions = definitionsFor(linted);
  return linted.compiled.related.flatMap((related): readonly RuleFinding[] => {
    const resource = definitions.get(related.resource);
    if (resource === undefined || hasIndexOn(resource, linkingFields(related))) return [];
    const fields = linkingFields(related).join(', ');
    const detail = `no index of ${resource.name} begins with ${fields}: a list reads all records of ${resource.name} for each row`;
    return [{ code: 'related-index', member: 'conditions', detail, todo: `add "indexes: [{ fields: [${fields}] }]" to ${resource.name}` }];
  });
}

function linkingFields({ on }: Related): readonly string[] {
  return on.map(({ path }) => path.keys[1] ?? '');
}
