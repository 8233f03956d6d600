import { didYouMean } from '../../errors.ts';
import { checkPattern } from '../../operators/index.ts';
import { isGroup } from '../attribute-path.ts';
import { CONTEXT_GROUPS } from '../condition.ts';
import { type ConditionParsing, describedKind } from '../parsing-context.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS } from './cel-language.ts';
import { type CelNode, callOf, pathOf } from './cel-tree.ts';

/** What macros make of themselves beside loops. */
const OF_MACROS = '@not_strictly_false';
/** Everything that may be called. What is not here may be costly, or read more than paths say. */
const ALLOWED: ReadonlySet<string> = new Set([...CEL_OPERATORS.keys(), ...CEL_FUNCTIONS.keys(), OF_MACROS]);

/** Names that macros make up for themselves begin with this. */
const MACRO_PREFIX = '@';

/** Where a node stands. */
interface Place {
  readonly depth: number;
  /** Loops (`exists`, `all`, `map`, `filter`) it stands in. */
  readonly loops: number;
  /** Names that those loops give to their items. */
  readonly names: ReadonlySet<string>;
}

/** Checking as it goes on. */
interface Checking {
  readonly reading: ConditionParsing;
  readonly mistakes: string[];
  tooDeep: boolean;
}

/** What is wrong with an expression that CEL itself accepts, in words, each mistake once. */
export function validateCel(root: CelNode, reading: ConditionParsing): readonly string[] {
  const checking: Checking = { reading, mistakes: [], tooDeep: false };
  checkNode(root, { depth: 1, loops: 0, names: new Set() }, checking);
  if (checking.tooDeep) checking.mistakes.push(`expected a tree of at most ${reading.reader.limits.expressionDepth} levels`);
  return [...new Set(checking.mistakes)];
}

function checkNode(node: CelNode | undefined, place: Place, checking: Checking): void {
  if (node === undefined) return;
  if (place.depth > checking.reading.reader.limits.expressionDepth) {
    checking.tooDeep = true;
    return;
  }
  if (isPathRead(node, checking)) return;
  const { exprKind } = node;
  const within = { ...place, depth: place.depth + 1 };
  switch (exprKind.case) {
    case 'constExpr':
      return;
    case 'identExpr':
      checkName(exprKind.value.name, place, checking);
      return;
    case 'selectExpr':
      checkNode(exprKind.value.operand, within, checking);
      return;
    case 'listExpr':
      for (const item of exprKind.value.elements) checkNode(item, within, checking);
      return;
    case 'callExpr':
      checkCall(node, within, checking);
      return;
    case 'comprehensionExpr':
      checkLoop(exprKind.value, within, checking);
      return;
    default:
      checking.mistakes.push('maps and messages cannot be made in an expression');
  }
}

/** Whether the node is a path; then it is checked as a whole. */
function isPathRead(node: CelNode, checking: Checking): boolean {
  const found = pathOf(node);
  if (found === undefined) return false;
  if ('problem' in found.parsed) {
    checking.mistakes.push(found.parsed.problem);
    return true;
  }
  const described = describedKind(checking.reading, found.parsed.path);
  if ('problem' in described) checking.mistakes.push(described.problem);
  return true;
}

function checkName(name: string, { names }: Place, { mistakes }: Checking): void {
  if (names.has(name)) return;
  mistakes.push(`unknown name "${name.slice(0, 64)}": expected ${CONTEXT_GROUPS.join(', ')}${didYouMean(name, CONTEXT_GROUPS)}`);
}

function checkCall(node: CelNode, place: Place, checking: Checking): void {
  const call = callOf(node);
  if (call === undefined) return;
  const { name, target, args } = call;
  if (!ALLOWED.has(name))
    checking.mistakes.push(`unknown function "${name.slice(0, 64)}"${didYouMean(name, [...CEL_FUNCTIONS.keys(), ...CEL_MACROS.keys()])}`);
  const pattern = name === 'matches' ? args.at(-1)?.exprKind : undefined;
  if (pattern?.case === 'constExpr' && pattern.value.constantKind.case === 'stringValue') {
    const mistake = checkPattern(pattern.value.constantKind.value);
    if (mistake !== undefined) checking.mistakes.push(mistake);
  }
  for (const part of [target, ...args]) checkNode(part, place, checking);
}

type Loop = Extract<CelNode['exprKind'], { case: 'comprehensionExpr' }>['value'];

/**
 * A loop in a loop would take time in the square of what records hold, and one over what another makes may find it grown:
 * `x.map(t, t + t)` doubles each text.
 */
function checkLoop(loop: Loop, place: Place, checking: Checking): void {
  checkNode(loop.iterRange, { ...place, loops: place.loops + 1 }, checking);
  if (isGroup(loop.iterVar) || loop.iterVar.startsWith(MACRO_PREFIX)) {
    checking.mistakes.push(`"${loop.iterVar}" cannot be the name of an item`);
    return;
  }
  if (place.loops > 0) {
    checking.mistakes.push('a loop (exists, all, map, filter) cannot stand in another, nor run over what another makes');
    return;
  }
  const inner = { ...place, loops: place.loops + 1, names: new Set([loop.iterVar, loop.accuVar]) };
  for (const part of [loop.accuInit, loop.loopCondition, loop.loopStep, loop.result]) checkNode(part, inner, checking);
}
