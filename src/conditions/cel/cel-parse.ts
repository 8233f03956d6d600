import type { parse } from '@bufbuild/cel';
import { didYouMean } from '../../errors.ts';
import { type Json, validatePattern } from '../../operators/index.ts';
import { isGroup } from '../attribute-path.ts';
import { CONTEXT_GROUPS, type Condition, constant } from '../condition.ts';
import { addConditionIssue, aliasesOf, type ConditionParser, expected, lookupKind } from '../condition-parser.ts';
import { bracketDepth } from './cel-brackets.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS } from './cel-language.ts';
import { celLibrary } from './cel-library.ts';
import { lowerCel } from './cel-lower.ts';
import { type RelatedCall, relatedCallOf, relatedPartsOf, validateForm, withAlias } from './cel-related.ts';
import { type CelNode, callOf, markAlias, parsePathNode } from './cel-tree.ts';

/** Maximum nesting of brackets outside of texts. Deeper brackets would overflow the stack of the CEL parser. The limit on the depth of the tree is lower. */
const MAX_BRACKETS = 100;

/**
 * Parses a CEL expression, validates it, and lowers it to a condition. Only `user`, `resource`, `environment` and `request` can be
 * read, and only the functions of `cel-language.ts` can be called.
 */
export function parseExpression(source: Json, at: string, parser: ConditionParser): Condition {
  const { expressions, limits } = parser.options;
  const refuse = (code: 'type' | 'tooLong' | 'tooDeep' | 'expression', detail: string): Condition =>
    addConditionIssue(parser, at, { code, detail });
  if (!expressions) return refuse('expression', 'expected a comparison or a group: expressions are for policies of type CUSTOM');
  if (typeof source !== 'string') return refuse('type', expected('a CEL expression (a text)', source));
  if (source.length > limits.expressionLength) {
    return refuse('tooLong', `expected at most ${limits.expressionLength} characters, given ${source.length}`);
  }
  if (bracketDepth(source) > MAX_BRACKETS) return refuse('tooDeep', `expected at most ${MAX_BRACKETS} levels of brackets`);
  const parsed = parseCel(source);
  if ('mistake' in parsed) return refuse('expression', parsed.mistake);
  const root = aliasesOf(parser).reduce(markAlias, parsed.expr);
  const mistakes = validateCel(root, parser);
  for (const mistake of mistakes) refuse('expression', mistake);
  if (mistakes.length > 0) return constant(null);
  const lowered = lowerCel({ ...parsed, expr: root }, parser);
  for (const mistake of lowered.mistakes) refuse('expression', mistake);
  return lowered.condition;
}

function parseCel(source: string): ReturnType<typeof parse> | { readonly mistake: string } {
  try {
    return celLibrary().parse(source);
  } catch (error) {
    // Every error of the parser is a mistake in the text. The parser throws a RangeError if its stack overflows.
    if (error instanceof RangeError) return { mistake: 'expected an expression with less nesting' };
    return { mistake: `expected a CEL expression: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be parsed'}` };
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
  readonly mistakes: string[];
  tooDeep: boolean;
}

/** Returns the mistakes in an expression that CEL accepts and we reject, without duplicates. */
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
      validation.mistakes.push('an expression cannot create maps and messages');
  }
}

/** Validates a node that is a path. Returns false if the node is not a path. */
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
  const related = relatedCallOf(node);
  if (related !== undefined) {
    validateRelated(related, place, validation);
    return;
  }
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

/** Validates the form of a condition on related records, and the paths in its parts. Its lowering validates its resource and links. */
function validateRelated(call: RelatedCall, place: Place, validation: Validation): void {
  if (place.loops > 0) validation.mistakes.push('a loop (exists, all, map, filter) cannot contain related(…)');
  validation.mistakes.push(...validateForm(call));
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
function validateLoop(loop: Loop, place: Place, validation: Validation): void {
  validateNode(loop.iterRange, { ...place, loops: place.loops + 1 }, validation);
  const isAlias = validation.parser.related.some(({ as }) => as === loop.iterVar);
  if (isGroup(loop.iterVar) || isAlias || loop.iterVar.startsWith(MACRO_PREFIX)) {
    validation.mistakes.push(`"${loop.iterVar}" cannot be a loop variable`);
    return;
  }
  if (place.loops > 0) {
    validation.mistakes.push('a loop (exists, all, map, filter) cannot contain another loop or run over its result');
    return;
  }
  const inner = { ...place, loops: place.loops + 1, names: new Set([loop.iterVar, loop.accuVar]) };
  for (const part of [loop.accuInit, loop.loopCondition, loop.loopStep, loop.result]) validateNode(part, inner, validation);
}
