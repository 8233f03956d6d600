import type { parse } from '@bufbuild/cel';
import { didYouMean, type TextRange } from '../../errors.ts';
import { type Json, validatePattern } from '../../operators/index.ts';
import { isGroup } from '../attribute-path.ts';
import { CONTEXT_GROUPS, type Condition, constant } from '../condition.ts';
import { addConditionIssue, aliasesOf, type ConditionParser, expected, lookupKind } from '../condition-parser.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS } from './cel-language.ts';
import { celLibrary } from './cel-library.ts';
import { lowerCel } from './cel-lower.ts';
import { addMistake, type CelMistakes, createLocator, rangeOfSyntaxError } from './cel-mistakes.ts';
import { type RelatedCall, relatedCallOf, relatedPartsOf, validateForm, withAlias } from './cel-related.ts';
import { bracketDepth } from './cel-tokens.ts';
import { type CelNode, CONDITIONAL, callOf, literalOf, markAlias, parsePathNode } from './cel-tree.ts';

/** Maximum nesting of brackets outside of texts. Deeper brackets would overflow the stack of the CEL parser. The limit on the depth of the tree is lower. */
const MAX_BRACKETS = 100;

/**
 * Parses a CEL expression, validates it, and lowers it to a condition. Only `user`, `resource`, `environment` and `request` can be
 * read, and only the functions of `cel-language.ts` can be called.
 */
export function parseExpression(source: Json, at: string, parser: ConditionParser): Condition {
  const { expressions, limits } = parser.options;
  const refuse = (code: 'type' | 'tooLong' | 'tooDeep' | 'expression', detail: string, range?: TextRange): Condition =>
    addConditionIssue(parser, at, { code, detail, ...(range && { range }) });
  if (!expressions) return refuse('expression', 'expected a comparison or a group: expressions are for policies of type CUSTOM');
  if (typeof source !== 'string') return refuse('type', expected('a CEL expression (a text)', source));
  if (source.length > limits.expressionLength) {
    return refuse('tooLong', `expected at most ${limits.expressionLength} characters, given ${source.length}`);
  }
  if (bracketDepth(source) > MAX_BRACKETS) return refuse('tooDeep', `expected at most ${MAX_BRACKETS} levels of brackets`);
  const parsed = parseCel(source);
  if ('mistake' in parsed) return refuse('expression', parsed.mistake, parsed.range);
  const root = aliasesOf(parser).reduce(markAlias, parsed.expr);
  const refuseEach = (mistakes: CelMistakes): void => {
    if (mistakes.size === 0) return;
    const locate = createLocator(source, parsed);
    for (const [mistake, node] of mistakes) refuse('expression', mistake, locate(node));
  };
  const mistakes = validateCel(root, parser);
  refuseEach(mistakes);
  if (mistakes.size > 0) return constant(null);
  const lowered = lowerCel({ ...parsed, expr: root }, parser);
  refuseEach(lowered.mistakes);
  return lowered.condition;
}

/** Returns the number of conditions that an expression joins with `&&`, `||`, `!` and `? :`. The constants `true` and `false` do not count. */
export function countJoined(source: string): number {
  const parsed = parseCel(source);
  return 'mistake' in parsed ? 1 : countIn(parsed.expr);
}

/** The functions that join conditions. */
const JOINS: ReadonlySet<string> = new Set(['_&&_', '_||_', '!_', CONDITIONAL]);

function countIn(node: CelNode): number {
  const call = callOf(node);
  if (call !== undefined && JOINS.has(call.name)) return call.args.reduce((sum, part) => sum + countIn(part), 0);
  return typeof literalOf(node)?.value === 'boolean' ? 0 : 1;
}

/** A text that is no CEL expression. */
interface UnparsedCel {
  readonly mistake: string;
  readonly range?: TextRange | undefined;
}

function parseCel(source: string): ReturnType<typeof parse> | UnparsedCel {
  try {
    return celLibrary().parse(source);
  } catch (error) {
    // Every error of the parser is a mistake in the text. The parser throws a RangeError if its stack overflows.
    if (error instanceof RangeError) return { mistake: 'expected an expression with less nesting' };
    const mistake = `expected a CEL expression: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'}`;
    return { mistake, range: rangeOfSyntaxError(source, error) };
  }
}

/** A function that only expanded macros call. */
const MACRO_HELPER = '@not_strictly_false';
/** The functions that may be called. Other functions of the library may be costly, or may read values that `paths` does not list. */
const ALLOWED: ReadonlySet<string> = new Set([...CEL_OPERATORS.keys(), ...CEL_FUNCTIONS.keys(), MACRO_HELPER]);

/** The prefix of variables that expanded macros declare. */
const MACRO_PREFIX = '@';

/** The position of a node. */
interface Place {
  readonly depth: number;
  /** The number of enclosing loops (`exists`, `all`, `map`, `filter`). */
  readonly loops: number;
  /** The variables of the enclosing loops. */
  readonly names: ReadonlySet<string>;
}

/** The state of a validation. */
interface Validation {
  readonly parser: ConditionParser;
  readonly mistakes: CelMistakes;
}

/** Returns the mistakes in an expression that CEL accepts and we reject. */
function validateCel(root: CelNode, parser: ConditionParser): CelMistakes {
  const validation: Validation = { parser, mistakes: new Map() };
  validateNode(root, { depth: 1, loops: 0, names: new Set() }, validation);
  return validation.mistakes;
}

function validateNode(node: CelNode | undefined, place: Place, validation: Validation): void {
  if (node === undefined) return;
  const { expressionDepth } = validation.parser.options.limits;
  if (place.depth > expressionDepth) {
    addMistake(validation.mistakes, `expected a tree of at most ${expressionDepth} levels`, node);
    return;
  }
  if (validatePath(node, validation)) return;
  const { exprKind } = node;
  const within = { ...place, depth: place.depth + 1 };
  switch (exprKind.case) {
    case 'constExpr':
      return;
    case 'identExpr':
      validateName(node, { name: exprKind.value.name, place }, validation);
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
      validateLoop(node, { loop: exprKind.value, place: within }, validation);
      return;
    default:
      addMistake(validation.mistakes, 'an expression cannot create maps and messages', node);
  }
}

/** Validates a node that is a path. Returns false if the node is not a path. */
function validatePath(node: CelNode, validation: Validation): boolean {
  const found = parsePathNode(node);
  if (found === undefined) return false;
  if ('problem' in found.parsed) {
    addMistake(validation.mistakes, found.parsed.problem, node);
    return true;
  }
  const described = lookupKind(validation.parser, found.parsed.path);
  if ('problem' in described) addMistake(validation.mistakes, described.problem, node);
  return true;
}

interface NamedPlace {
  readonly name: string;
  readonly place: Place;
}

function validateName(node: CelNode, { name, place }: NamedPlace, { mistakes }: Validation): void {
  if (place.names.has(name)) return;
  const detail = `unknown name "${name.slice(0, 64)}": expected ${CONTEXT_GROUPS.join(', ')}${didYouMean(name, CONTEXT_GROUPS)}`;
  addMistake(mistakes, detail, node);
}

function validateCall(node: CelNode, place: Place, validation: Validation): void {
  const call = callOf(node);
  if (call === undefined) return;
  const related = relatedCallOf(node);
  if (related !== undefined) {
    validateRelated(node, { call: related, place }, validation);
    return;
  }
  const { name, target, args } = call;
  if (!ALLOWED.has(name)) {
    const near = didYouMean(name, [...CEL_FUNCTIONS.keys(), ...CEL_MACROS.keys()]);
    addMistake(validation.mistakes, `unknown function "${name.slice(0, 64)}"${near}`, node);
  }
  const pattern = name === 'matches' ? args.at(-1) : undefined;
  if (pattern?.exprKind.case === 'constExpr' && pattern.exprKind.value.constantKind.case === 'stringValue') {
    const mistake = validatePattern(pattern.exprKind.value.constantKind.value);
    if (mistake !== undefined) addMistake(validation.mistakes, mistake, pattern);
  }
  for (const part of [target, ...args]) validateNode(part, place, validation);
}

/** Validates the form of a condition on related records, and the paths in its parts. Its lowering validates its resource and links. */
function validateRelated(
  node: CelNode,
  { call, place }: { readonly call: RelatedCall; readonly place: Place },
  validation: Validation,
): void {
  if (place.loops > 0) addMistake(validation.mistakes, 'a loop (exists, all, map, filter) cannot contain related(…)', node);
  for (const mistake of validateForm(call)) addMistake(validation.mistakes, mistake, node);
  const parts = relatedPartsOf(call);
  if (parts === undefined) return;
  withAlias(parts, validation.parser, () => {
    for (const part of [parts.on, parts.where]) validateNode(part, place, validation);
  });
}

type Loop = Extract<CelNode['exprKind'], { case: 'comprehensionExpr' }>['value'];

/**
 * Rejects loops in loops and loops over the results of loops. Loops in loops take quadratic time in the size of a record. Loops over
 * results may run over larger values: `x.map(t, t + t)` doubles each text.
 */
function validateLoop(node: CelNode, { loop, place }: { readonly loop: Loop; readonly place: Place }, validation: Validation): void {
  validateNode(loop.iterRange, { ...place, loops: place.loops + 1 }, validation);
  const isAlias = validation.parser.related.some(({ as }) => as === loop.iterVar);
  if (isGroup(loop.iterVar) || isAlias || loop.iterVar.startsWith(MACRO_PREFIX)) {
    addMistake(validation.mistakes, `"${loop.iterVar}" cannot be a loop variable`, node);
    return;
  }
  if (place.loops > 0) {
    addMistake(validation.mistakes, 'a loop (exists, all, map, filter) cannot contain another loop or run over its result', node);
    return;
  }
  const inner = { ...place, loops: place.loops + 1, names: new Set([loop.iterVar, loop.accuVar]) };
  for (const part of [loop.accuInit, loop.loopCondition, loop.loopStep, loop.result]) validateNode(part, inner, validation);
}
