import type { Related } from '../../conditions/index.ts';
import { hasIndexOn } from '../../resources/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** Returns the findings about the conditions on related records of a rule. */
export function lintRelated(linted: LintedRule): readonly RuleFinding[] {
  return [...lintIndexes(linted), ...linted.compiled.related.flatMap(lintBounds)];
}

/** Reports bounds that no number of related records meets. */
function lintBounds({ resource, atLeast = 0, limit }: Related): readonly RuleFinding[] {
  if (atLeast <= limit) return [];
  const detail = `"atLeast" ${atLeast} is never met: with more than ${limit} related records of ${resource}, the condition is unknown`;
  return [{ code: 'never-holds', member: 'conditions', detail, todo: 'lower the bound, or raise the setting conditionRelatedRecords' }];
}

/** Reports conditions whose related records no index finds. A list then reads all records of the related resource for each of its rows. */
function lintIndexes(linted: LintedRule): readonly RuleFinding[] {
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
