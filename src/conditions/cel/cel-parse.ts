import type { parse } from '@bufbuild/cel';
import { didYouMean } from '../../errors.ts';
import { type Json, validatePattern } from '../../operators/index.ts';
import { isGroup } from '../attribute-path.ts';
import { CONTEXT_GROUPS, type Condition, constant } from '../condition.ts';
import { addConditionIssue, type ConditionParser, expected, lookupKind } from '../parsing-context.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS } from './cel-language.ts';
import { celLibrary } from './cel-library.ts';
import { lowerCel } from './cel-lower.ts';
import { type CelNode, callOf, parsePathNode } from './cel-tree.ts';

/** Brackets within brackets: beyond, the parser itself would run out of stack. Far above what the limit on the tree lets through. */
const MAX_BRACKETS = 100;

/**
 * Reads a CEL expression into our own tree as far as the two agree on its meaning, and into expressions for the rest.
 * Only `user`, `resource`, `environment` and `request` can be read, and only functions on a list be called.
 */
export function parseExpression(source: Json, at: string, parser: ConditionParser): Condition {
  const { expressions, limits } = parser.options;
  const refuse = (code: 'type' | 'limit' | 'expression', detail: string): Condition => addConditionIssue(parser, at, { code, detail });
  if (!expressions) return refuse('expression', 'expected a comparison or a group: expressions are for policies of type CUSTOM');
  if (typeof source !== 'string') return refuse('type', expected('a CEL expression (a text)', source));
  if (source.length > limits.expressionLength) {
    return refuse('limit', `expected at most ${limits.expressionLength} characters, given ${source.length}`);
  }
  if (bracketDepth(source) > MAX_BRACKETS) return refuse('limit', `expected at most ${MAX_BRACKETS} brackets within each other`);
  const parsed = parseCel(source);
  if ('mistake' in parsed) return refuse('expression', parsed.mistake);
  const mistakes = validateCel(parsed.expr, parser);
  for (const mistake of mistakes) refuse('expression', mistake);
  if (mistakes.length > 0) return constant(null);
  const lowered = lowerCel(parsed, parser);
  for (const mistake of lowered.mistakes) refuse('expression', mistake);
  return lowered.condition;
}

function parseCel(source: string): ReturnType<typeof parse> | { readonly mistake: string } {
  try {
    return celLibrary().parse(source);
  } catch (error) {
    // Whatever the parser throws on text from outside is a mistake in that text; a RangeError is the end of its stack.
    if (error instanceof RangeError) return { mistake: 'expected an expression with less within each other' };
    return { mistake: `expected a CEL expression: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read'}` };
  }
}

/** Brackets in quoted text count too: too much is refused, never too little. */
function bracketDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of source) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth--;
  }
  return deepest;
}

/** What macros make of themselves beside loops. */
const MACRO_HELPER = '@not_strictly_false';
/** Everything that may be called. What is not here may be costly, or read more than paths say. */
const ALLOWED: ReadonlySet<string> = new Set([...CEL_OPERATORS.keys(), ...CEL_FUNCTIONS.keys(), MACRO_HELPER]);

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

/** Validation as it goes on. */
interface Validation {
  readonly parser: ConditionParser;
  readonly mistakes: string[];
  tooDeep: boolean;
}

/** What is wrong with an expression that CEL itself accepts, in words, each mistake once. */
function validateCel(root: CelNode, parser: ConditionParser): readonly string[] {
  const validation: Validation = { parser, mistakes: [], tooDeep: false };
  validateNode(root, { depth: 1, loops: 0, names: new Set() }, validation);
  if (validation.tooDeep) validation.mistakes.push(`expected a tree of at most ${parser.options.limits.expressionDepth} levels`);
  return [...new Set(validation.mistakes)];
}

function validateNode(node: CelNode | undefined, place: Place, validation: Validation): void {
  if (node === undefined) return;
  if (place.depth > validation.parser.options.limits.expressionDepth) {
    validation.tooDeep = true;
    return;
  }
  if (validatePath(node, validation)) return;
  const { exprKind } = node;
  const within = { ...place, depth: place.depth + 1 };
  switch (exprKind.case) {
    case 'constExpr':
      return;
    case 'identExpr':
      validateName(exprKind.value.name, place, validation);
      return;
    case 'selectExpr':
      validateNode(exprKind.value.operand, within, validation);
      return;
    case 'listExpr':
      for (const item of exprKind.value.elements) validateNode(item, within, validation);
      return;
    case 'callExpr':
      validateCall(node, within, validation);
      return;
    case 'comprehensionExpr':
      validateLoop(exprKind.value, within, validation);
      return;
    default:
      validation.mistakes.push('maps and messages cannot be made in an expression');
  }
}

/** Whether the node is a path; then it is checked as a whole. */
function validatePath(node: CelNode, validation: Validation): boolean {
  const found = parsePathNode(node);
  if (found === undefined) return false;
  if ('problem' in found.parsed) {
    validation.mistakes.push(found.parsed.problem);
    return true;
  }
  const described = lookupKind(validation.parser, found.parsed.path);
  if ('problem' in described) validation.mistakes.push(described.problem);
  return true;
}

function validateName(name: string, { names }: Place, { mistakes }: Validation): void {
  if (names.has(name)) return;
  mistakes.push(`unknown name "${name.slice(0, 64)}": expected ${CONTEXT_GROUPS.join(', ')}${didYouMean(name, CONTEXT_GROUPS)}`);
}

function validateCall(node: CelNode, place: Place, validation: Validation): void {
  const call = callOf(node);
  if (call === undefined) return;
  const { name, target, args } = call;
  if (!ALLOWED.has(name))
    validation.mistakes.push(`unknown function "${name.slice(0, 64)}"${didYouMean(name, [...CEL_FUNCTIONS.keys(), ...CEL_MACROS.keys()])}`);
  const pattern = name === 'matches' ? args.at(-1)?.exprKind : undefined;
  if (pattern?.case === 'constExpr' && pattern.value.constantKind.case === 'stringValue') {
    const mistake = validatePattern(pattern.value.constantKind.value);
    if (mistake !== undefined) validation.mistakes.push(mistake);
  }
  for (const part of [target, ...args]) validateNode(part, place, validation);
}

type Loop = Extract<CelNode['exprKind'], { case: 'comprehensionExpr' }>['value'];

/**
 * A loop in a loop would take time in the square of what records hold, and one over what another makes may find it grown:
 * `x.map(t, t + t)` doubles each text.
 */
function validateLoop(loop: Loop, place: Place, validation: Validation): void {
  validateNode(loop.iterRange, { ...place, loops: place.loops + 1 }, validation);
  if (isGroup(loop.iterVar) || loop.iterVar.startsWith(MACRO_PREFIX)) {
    validation.mistakes.push(`"${loop.iterVar}" cannot be the name of an item`);
    return;
  }
  if (place.loops > 0) {
    validation.mistakes.push('a loop (exists, all, map, filter) cannot stand in another, nor run over what another makes');
    return;
  }
  const inner = { ...place, loops: place.loops + 1, names: new Set([loop.iterVar, loop.accuVar]) };
  for (const part of [loop.accuInit, loop.loopCondition, loop.loopStep, loop.result]) validateNode(part, inner, validation);
}
