/** Turns comparisons through lists of references into comparisons with the record of some item. */
import { itemPath, listPath } from './attribute-path.ts';
import type { Comparison, Condition, Operand, Path, Related, Some, Within } from './condition.ts';
import { addConditionIssue, type ConditionParser, type FollowedList, lookupLists, type OpenRelated } from './condition-parser.ts';
import { operandPaths } from './condition-paths.ts';

/** Returns a condition in which no path follows a list. Adds an issue at `at` for an expression that computes with such a path. */
export function throughLists(condition: Condition, at: string, parser: ConditionParser): Condition {
  const each = (part: Condition): Condition => throughLists(part, at, parser);
  switch (condition.type) {
    case 'comparison':
    case 'within':
      return computesWithList(condition, parser) ? refuseComputed(at, parser) : wrap(condition, listsIn(condition, parser), parser);
    case 'expression':
      return condition.paths.some((path) => followsList(path, parser)) ? refuseComputed(at, parser) : condition;
    case 'related':
      return inRelated(condition, each, parser);
    case 'not':
      return { type: 'not', of: each(condition.of) };
    case 'all':
    case 'any':
      return { type: condition.type, of: condition.of.map(each) };
    default:
      return condition;
  }
}

/** Returns true if a path follows a list of references. */
export function followsList(path: Path, parser: ConditionParser): boolean {
  return lookupLists(parser, path).length > 0;
}

function computesWithList({ operand }: Comparison | Within, parser: ConditionParser): boolean {
  const computed = operand.type === 'array' ? operand.items : [operand];
  return computed.some((each) => each.type === 'computed' && each.paths.some((path) => followsList(path, parser)));
}

function refuseComputed(at: string, parser: ConditionParser): Condition {
  const detail = 'a path through a list of references has a value for each item: it can be compared, but not computed with';
  return addConditionIssue(parser, at, { code: 'expression', detail });
}

/** Converts the `where` of a condition on related records, in which paths may begin with its alias. */
function inRelated(related: Related, convert: (where: Condition) => Condition, { options, related: outer }: ConditionParser): Related {
  const described = options.describeRelated?.(related.resource);
  const open: OpenRelated = { as: related.as, description: described !== undefined && 'problem' in described ? undefined : described };
  outer.push(open);
  const where = convert(related.where);
  outer.pop();
  return Object.freeze({ ...related, where });
}

/** The lists that each path of a comparison follows from its beginning. */
type ListsByPath = ReadonlyMap<Path, readonly FollowedList[]>;

function listsIn({ path, operand }: Comparison | Within, parser: ConditionParser): ListsByPath {
  const found = new Map<Path, readonly FollowedList[]>();
  for (const each of [path, ...operandPaths(operand)]) {
    const lists = lookupLists(parser, each);
    if (lists.length > 0) found.set(each, lists);
  }
  return found;
}

/** Wraps a comparison in a condition for each list, the first one outside. Paths through the same list read the same record. */
function wrap(leaf: Comparison | Within, lists: ListsByPath, parser: ConditionParser): Comparison | Within | Some {
  const [first] = lists;
  if (first === undefined) return leaf;
  const [path, [list]] = first;
  if (list === undefined) return leaf;
  const outer = listPath(path, list.length);
  const rest = new Map<Path, readonly FollowedList[]>();
  const renamed = new Map<string, Path>();
  for (const [each, [own, ...further]] of lists) {
    const isThrough = own !== undefined && listPath(each, own.length).text === outer.text;
    if (!isThrough) {
      if (own !== undefined) rest.set(each, [own, ...further]);
      continue;
    }
    const inner = itemPath(outer, each.keys.slice(own.length));
    renamed.set(each.text, inner);
    // The alias takes the place of the path of the list.
    const shifted = further.map(({ length, resource }) => ({ length: length - own.length + 1, resource }));
    if (shifted.length > 0) rest.set(inner, shifted);
  }
  const where = wrap(
    renamePathsOf(leaf, (each) => renamed.get(each.text) ?? each),
    rest,
    parser,
  );
  const { relatedRecords: limit } = parser.options.limits;
  return Object.freeze({ type: 'some', path: outer, resource: list.resource, as: outer.text, where, limit });
}

function renamePathsOf(leaf: Comparison | Within, rename: (path: Path) => Path): Comparison | Within {
  return Object.freeze({ ...leaf, path: rename(leaf.path), operand: renameOperand(leaf.operand, rename) });
}

function renameOperand(operand: Operand, rename: (path: Path) => Path): Operand {
  switch (operand.type) {
    case 'reference':
      return { type: 'reference', path: rename(operand.path) };
    case 'template':
      return { type: 'template', parts: operand.parts.map((part) => (typeof part === 'string' ? part : rename(part))) };
    case 'array':
      return { type: 'array', items: operand.items.map((item) => renameOperand(item, rename)) };
    default:
      return operand;
  }
}
