import type { parse } from '@bufbuild/cel';
import type { Json } from '../../operators/index.ts';
import { all, any, type Comparison, type Condition, constant, not, type Operand, type Path } from '../condition.ts';
import { addConditionIssue, type ConditionParsing, expected } from '../parsing-context.ts';
import { validateCel } from './cel-check.ts';
import { compare, lowerComparison, lowerComputed } from './cel-compare.ts';
import { isOfNoRecord } from './cel-computed.ts';
import { toExpression } from './cel-evaluate.ts';
import { celLibrary } from './cel-library.ts';
import { lowerLoop } from './cel-loops.ts';
import { kindOf, type Lowering, literalOf, toIntegerComparison } from './cel-sides.ts';
import { type CelNode, type CelSource, CHOICE, callOf, knownPathOf, partsOf } from './cel-tree.ts';
import { typeMistakes } from './cel-types.ts';

/** Brackets within brackets: beyond, the parser itself would run out of stack. Far above what the limit on the tree lets through. */
const MAX_BRACKETS = 100;

/**
 * Reads a CEL expression into our own tree as far as the two agree on its meaning, and into expressions for the rest.
 * Only `user`, `resource`, `environment` and `request` can be read, and only functions on a list be called.
 */
export function parseExpression(source: Json, at: string, reading: ConditionParsing): Condition {
  const { expressions, limits } = reading.reader;
  const refuse = (code: 'type' | 'limit' | 'expression', detail: string): Condition => addConditionIssue(reading, at, { code, detail });
  if (!expressions) return refuse('expression', 'expected a comparison or a group: expressions are for policies of type CUSTOM');
  if (typeof source !== 'string') return refuse('type', expected('a CEL expression (a text)', source));
  if (source.length > limits.expressionLength) {
    return refuse('limit', `expected at most ${limits.expressionLength} characters, given ${source.length}`);
  }
  if (bracketDepth(source) > MAX_BRACKETS) return refuse('limit', `expected at most ${MAX_BRACKETS} brackets within each other`);
  const parsed = parseCel(source);
  if ('mistake' in parsed) return refuse('expression', parsed.mistake);
  const mistakes = validateCel(parsed.expr, reading);
  for (const mistake of mistakes) refuse('expression', mistake);
  if (mistakes.length > 0) return constant(null);
  const lowered = lowerCel(parsed, reading);
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

/**
 * The condition that an expression is: `&&`, `||` and `!` are ours already (an error is unknown, and is absorbed alike),
 * a choice is a group of its parts, and a comparison of a path with a path, a literal or what is the same for every record is the one that
 * our operator of that meaning makes. What is left stays CEL and is evaluated in memory, where comparing means the same.
 */
export function lowerCel(
  source: CelSource,
  reading: ConditionParsing,
): { readonly condition: Condition; readonly mistakes: readonly string[] } {
  const mistakes = new Set<string>();
  return { condition: lower(source.expr, { source, reading, mistakes }), mistakes: [...mistakes] };
}

function lower(node: CelNode, lowering: Lowering): Condition {
  const call = callOf(node);
  if (call?.name === '_&&_') return all(call.args.map((part) => lower(part, lowering)));
  if (call?.name === '_||_') return any(call.args.map((part) => lower(part, lowering)));
  const [only] = call?.args ?? [];
  if (call?.name === '!_' && only !== undefined) return not(lower(only, lowering));
  const plain = lowerLeaf(node, lowering) ?? lowerComparison(node, lowering);
  if (plain !== undefined) return plain;
  const mistakes = [...typeMistakes(node, lowering.reading), ...literalMistakes(node, lowering)];
  for (const mistake of mistakes) lowering.mistakes.add(mistake);
  if (mistakes.length > 0) return constant(null);
  return lowerChoice(node, lowering) ?? lowerComputed(node, lowering) ?? lowerLoop(node, lowering) ?? keep(node, lowering);
}

const NULL: Operand = { type: 'literal', value: null };
/** A condition that stays a CEL expression. */
function keep(node: CelNode, { source, reading }: Lowering): Condition {
  const integers = toIntegerComparison(node, reading);
  const expression = toExpression(node, source);
  return integers === undefined ? expression : Object.freeze({ ...expression, integers });
}

/** The value that a path is compared with where it is a condition by itself: `user.isActive`, `has(user.department)`. */
const YES: Operand = { type: 'literal', value: true };

function lowerLeaf(node: CelNode, lowering: Lowering): Condition | undefined {
  const literal = literalOf(node);
  if (typeof literal?.value === 'boolean') return constant(literal.value);
  const read = knownPathOf(node);
  if (read === undefined) return undefined;
  if (read.presence) return compare(read.path, 'exists', { operand: YES, lowering });
  const isTrue = compare(read.path, 'eq', { operand: YES, lowering });
  // With `eq`, null is a value that is not true. In CEL, null is not a boolean, which is an error.
  return isTrue.type === 'constant' || isStoredBoolean(read.path, lowering)
    ? isTrue
    : any([isTrue, all([isNull(read.path), constant(null)])]);
}

/** A column holds no null: a field without a value is missing. */
function isStoredBoolean(path: Path, { reading }: Lowering): boolean {
  return path.group === 'resource' && kindOf(path, reading)?.kind === 'boolean';
}

function isNull(path: Path): Comparison {
  return Object.freeze({ type: 'comparison', path, operator: 'eq', operand: NULL, ifExists: false });
}

/** Finds literals in a part other than a plain comparison that their paths never equal. Only checked if the values of paths are known. */
function literalMistakes(root: CelNode, lowering: Lowering): readonly string[] {
  const { domainOf, ...reader } = lowering.reading.reader;
  if (domainOf === undefined) return [];
  const mistakesIn = (reading: ConditionParsing): ReadonlySet<string> => {
    const mistakes = new Set<string>();
    const look = (node: CelNode): void => {
      lowerComparison(node, { ...lowering, reading, mistakes });
      for (const part of partsOf(node)) look(part);
    };
    look(root);
    return mistakes;
  };
  const others = mistakesIn({ ...lowering.reading, reader });
  return [...mistakesIn(lowering.reading)].filter((mistake) => !others.has(mistake));
}

/**
 * Lowers `asked ? yes : no`. If `asked` is unknown, so is the result: the last group ensures that. `asked` is repeated three
 * times, so it must not contain a choice itself.
 */
function lowerChoice(node: CelNode, lowering: Lowering): Condition | undefined {
  const call = callOf(node);
  const [asked, yes, no] = call?.args ?? [];
  if (call?.name !== CHOICE || asked === undefined || yes === undefined || no === undefined) return undefined;
  if (hasChoice(asked) || isOfNoRecord(node)) return undefined;
  const condition = lower(asked, lowering);
  const otherwise = not(condition);
  return any([all([condition, lower(yes, lowering)]), all([otherwise, lower(no, lowering)]), all([condition, otherwise])]);
}

function hasChoice(node: CelNode): boolean {
  return callOf(node)?.name === CHOICE || partsOf(node).some(hasChoice);
}
