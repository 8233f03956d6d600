/** Parses a condition on ancestors. */
import { describeValue, type Json } from '../operators/index.ts';
import { parsePath } from './attribute-path.ts';
import type { Condition, Operand, Path, PathKind, Within } from './condition.ts';
import { type ConditionParser, lookupKind } from './condition-parser.ts';
import { parseForeignReference } from './foreign-reference.ts';

/** The operator of conditions on ancestors. It is written like a comparison, but reads records, so it is no operator of two values. */
export const WITHIN = Object.freeze({
  name: 'within',
  label: 'is within',
  summary: 'The record with the id, or one of its ancestors in its hierarchy, is among the ids.',
});

/** The sides of the condition. */
type WithinSides = Pick<Within, 'path' | 'operand' | 'ifExists'>;

/** A mistake in one member of the condition. */
interface WithinMistake {
  readonly member: 'operator' | 'value';
  readonly detail: string;
}

/** Creates a condition on ancestors, or returns the mistakes in its sides. */
export function toWithin(
  sides: WithinSides,
  parser: ConditionParser,
): { readonly condition: Condition } | { readonly mistakes: readonly WithinMistake[] } {
  const described = lookupKind(parser, sides.path);
  const kind = 'kind' in described ? described.kind : undefined;
  const mistakes = [...validatePath(sides.path, kind, parser), ...validateIds(sides.operand, parser)];
  if (mistakes.length > 0) return { mistakes };
  const parent = kind?.hierarchy?.parent === undefined ? undefined : siblingOf(sides.path, kind.hierarchy.parent, parser);
  return { condition: Object.freeze({ type: 'within', ...sides, ...(parent !== undefined && { parent }) }) };
}

function validatePath({ text }: Path, kind: PathKind | undefined, { options }: ConditionParser): readonly WithinMistake[] {
  if (kind?.hierarchy !== undefined || (kind === undefined && options.describePath === undefined)) return [];
  const is = kind === undefined ? 'may be anything' : `is ${kind.kind} of no hierarchy`;
  const wanted = 'expected a reference to a resource with a hierarchy, or the id of such a record';
  const todo = 'a hierarchy is declared with "hierarchy: true" on the field that refers to the parent';
  return [{ member: 'operator', detail: `operator "${WITHIN.name}" does not fit ${text}, which ${is}: ${wanted}; ${todo}` }];
}

/** Returns the path of another field of the record that has the field at `path`. */
function siblingOf({ text }: Path, name: string, { related }: ConditionParser): Path | undefined {
  const parsed = parsePath(`${text.slice(0, text.lastIndexOf('.') + 1)}${name}`, { aliases: related.map(({ as }) => as) });
  return 'path' in parsed ? parsed.path : undefined;
}

function validateIds(operand: Operand, parser: ConditionParser): readonly WithinMistake[] {
  const mistakes = mistakesIn(operand, parser);
  return mistakes.slice(0, 5).map((detail) => ({ member: 'value', detail }));
}

function mistakesIn(operand: Operand, parser: ConditionParser): readonly string[] {
  switch (operand.type) {
    case 'literal':
      return Array.isArray(operand.value)
        ? operand.value.flatMap((item: Json, index) => idMistakes(item, parser).map((detail) => `item ${index}: ${detail}`))
        : idMistakes(operand.value, parser);
    case 'array':
      return operand.items.flatMap((item, index) =>
        (item.type === 'reference' ? referenceMistakes(item.path, parser, true) : mistakesIn(item, parser)).map(
          (detail) => `item ${index}: ${detail}`,
        ),
      );
    case 'reference':
      return referenceMistakes(operand.path, parser);
    case 'template':
    case 'computed':
      return [];
  }
}

/** Returns a message for a literal that is no id. References of other products are reported in new rules only, like other impossible literals. */
function idMistakes(value: Json, { options }: ConditionParser): readonly string[] {
  if (typeof value !== 'string' || value === '') return [`expected an id or a list of ids, given ${describeValue(value)}`];
  const path = options.domainOf === undefined ? undefined : parseForeignReference(value);
  return path === undefined ? [] : [`expected an id, given ${describeValue(value)}; a reference is written \${${path}}`];
}

function referenceMistakes(path: Path, parser: ConditionParser, isItem: boolean = false): readonly string[] {
  const described = lookupKind(parser, path);
  if ('problem' in described) return [described.problem];
  if (isItem && described.kind?.kind === 'list')
    return [`expected an id, given ${path.text}, which is a list: write it instead of the list around it`];
  const kind = described.kind?.kind === 'list' ? described.kind.itemKind : described.kind?.kind;
  const isId = kind === undefined || kind === 'text' || kind === 'json';
  return isId
    ? []
    : [`expected an id or a list of ids, given ${path.text}, which is ${described.kind?.kind === 'list' ? `a list of ${kind}` : kind}`];
}
