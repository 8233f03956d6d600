import type { parse } from '@bufbuild/cel';
import type { Json } from '../operators/index.ts';
import { checkCel } from './cel-check.ts';
import { celLibrary } from './cel-library.ts';
import { lowerCel } from './cel-lower.ts';
import type { Condition } from './condition.ts';
import { expected, note, type Reading } from './reading.ts';
import { constant } from './tree.ts';

/** Brackets within brackets: beyond, the parser itself would run out of stack. Far above what the limit on the tree lets through. */
const MAX_BRACKETS = 100;

/**
 * Reads a CEL expression into our own tree as far as the two agree on its meaning, and into expressions for the rest.
 * Only `user`, `resource`, `environment` and `request` can be read, and only functions on a list be called.
 */
export function readExpression(source: Json, at: string, reading: Reading): Condition {
  const { expressions, limits } = reading.reader;
  const refuse = (code: 'type' | 'limit' | 'expression', detail: string): Condition => note(reading, at, { code, detail });
  if (!expressions) return refuse('expression', 'expected a comparison or a group: expressions are for policies of type CUSTOM');
  if (typeof source !== 'string') return refuse('type', expected('a CEL expression (a text)', source));
  if (source.length > limits.expressionLength) {
    return refuse('limit', `expected at most ${limits.expressionLength} characters, given ${source.length}`);
  }
  if (bracketDepth(source) > MAX_BRACKETS) return refuse('limit', `expected at most ${MAX_BRACKETS} brackets within each other`);
  const parsed = parseCel(source);
  if ('mistake' in parsed) return refuse('expression', parsed.mistake);
  const mistakes = checkCel(parsed.expr, reading);
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
