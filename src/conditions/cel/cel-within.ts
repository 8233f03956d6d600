/** Lowers calls of `within`, which compare ancestors and can therefore not be evaluated by CEL. */
import { type Condition, constant } from '../condition.ts';
import { toWithin, WITHIN } from '../parse-within.ts';
import { type Lowering, lowerOperand } from './cel-lower-comparison.ts';
import { addMistake } from './cel-mistakes.ts';
import { type CelNode, callOf, partsOf, pathOf } from './cel-tree.ts';

/** Returns true if a node calls `within`. */
export function isWithinCall(node: CelNode): boolean {
  return callOf(node)?.name === WITHIN.name;
}

/** Lowers `path.within(ids)` to a condition on ancestors. Adds a mistake if it is none. */
export function lowerWithin(node: CelNode, { parser, mistakes }: Lowering): Condition {
  const { target, args = [] } = callOf(node) ?? {};
  const read = target && pathOf(target);
  const [ids, ...more] = args;
  const operand = ids && lowerOperand(ids, parser)?.operand;
  if (read === undefined || read.presence || operand === undefined || more.length > 0) {
    addMistake(
      mistakes,
      'expected a path, and an id or a list of ids or paths, such as resource.folderId.within(user.rootFolderIds)',
      node,
    );
    return constant(null);
  }
  const parsed = toWithin({ path: read.path, operand, ifExists: false }, parser);
  if ('condition' in parsed) return parsed.condition;
  for (const { detail } of parsed.mistakes) addMistake(mistakes, detail, node);
  return constant(null);
}

/** Returns a mistake if a part of a node calls `within`: the result can be joined with other conditions, but not computed with. */
export function withinMistakes(node: CelNode): readonly string[] {
  return callsWithin(node) ? ['"within" stands alone or is joined by &&, || and !: a loop, a comparison or ?: cannot contain it'] : [];
}

function callsWithin(node: CelNode): boolean {
  return isWithinCall(node) || partsOf(node).some(callsWithin);
}
