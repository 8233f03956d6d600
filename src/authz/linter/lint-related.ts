import { canSelectRecords } from '../../actions.ts';
import { conditionPaths, type Operand, type Path, type Related, readsOtherRecords } from '../../conditions/index.ts';
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

/**
 * Reports conditions whose related records no index finds: a list then reads all records of the related resource for each of its rows. Also reports
 * those of which an index finds the records of one row, but not the records of the caller for all rows.
 */
function lintIndexes(linted: LintedRule): readonly RuleFinding[] {
  const definitions = definitionsFor(linted);
  return linted.compiled.related.flatMap((related): readonly RuleFinding[] => {
    const resource = definitions.get(related.resource);
    if (resource === undefined) return [];
    const { known, open } = linkingFields(related);
    const all = [...known, ...open];
    const isFound = hasIndexOn(resource, all);
    const isFoundOnce = hasIndexOn(resource, known) || !isSearchedOnce(related, linted);
    if (isFound && isFoundOnce) return [];
    const [fields, effect] = isFound
      ? [known, `a list searches records of ${resource.name} for each row, instead of those of the caller once`]
      : [all, `a list reads all records of ${resource.name} for each row`];
    const detail = `no index of ${resource.name} begins with ${fields.join(', ')}: ${effect}`;
    const todo = `add "indexes: [{ fields: [${all.join(', ')}] }]" to ${resource.name}`;
    return [{ code: 'related-index', member: 'conditions', detail, todo }];
  });
}

/** Returns true if a list can search the related records for all of its rows at once, with an index that begins with the known fields. */
function isSearchedOnce(related: Related, { rule }: LintedRule): boolean {
  const { known, open } = linkingFields(related);
  if (!canSelectRecords(rule.action) || related.resource === rule.resource || known.length === 0 || open.length === 0) return false;
  if (related.on.some(({ operand }) => groupOf(operand) === 'related') || readsOtherRecords(related.where)) return false;
  return !conditionPaths(related.where).some(({ group }) => group === 'resource');
}

/** Returns the linking fields: first those whose values the caller and literals determine, then those whose values depend on the record. */
function linkingFields({ on }: Related): { readonly known: readonly string[]; readonly open: readonly string[] } {
  const isOpen = ({ operand }: Related['on'][number]): boolean => ['resource', 'related'].includes(groupOf(operand) ?? '');
  const toNames = (links: Related['on']): readonly string[] => links.map(({ path }) => path.keys[1] ?? '');
  return { known: toNames(on.filter((link) => !isOpen(link))), open: toNames(on.filter(isOpen)) };
}

function groupOf(operand: Operand): Path['group'] | undefined {
  return operand.type === 'reference' ? operand.path.group : undefined;
}
