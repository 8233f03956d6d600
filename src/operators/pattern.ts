import { RE2JS, RE2JSException } from 're2js';
import { checkText, defineOperator } from './define-operator.ts';
import { IN_MEMORY, type Operator } from './operator.ts';
import { type Json, UNKNOWN } from './value.ts';

/** Longer patterns are refused: what they compile to grows with them. */
const MAX_PATTERN_LENGTH = 1000;
/** What a pattern may compile to, in RE2's instructions: matching takes time proportional to it. */
const MAX_PROGRAM_SIZE = 10_000;
const MAX_COMPILED = 500;
/**
 * Characters times instructions that one match may take at worst, a second or so: linear time is long, too, where both are,
 * and a client brings the pattern and the text. Beyond it the answer is unknown, on every machine alike.
 */
const MAX_STEPS = 10_000_000;

/** A compiled pattern, or in words why there is none. */
type Compiled = { readonly pattern: RE2JS; readonly size: number } | { readonly mistake: string };

/** Compiled once and kept, the oldest making room: policies hold few patterns, clients may send many. */
const compiled = new Map<string, Compiled>();

export const matches: Operator = defineOperator({
  name: 'matches',
  label: 'matches',
  summary: 'A part of the text matches the regular expression, in RE2 syntax (`^` and `$` make it the whole).',
  kinds: ['text', 'json'],
  operand: 'pattern',
  checkOperand: (expected) => checkText(expected) ?? checkPattern(String(expected)),
  answer: (actual: Json, expected: Json) =>
    typeof actual !== 'string' || typeof expected !== 'string' ? UNKNOWN : (matchesPattern(actual, expected) ?? UNKNOWN),
  sql: () => IN_MEMORY,
  samples: [
    { actual: 'INV-2026-17', expected: '^INV-\\d{4}-', kind: 'text', answer: true },
    { actual: 'inv-2026-17', expected: '^INV-\\d{4}-', kind: 'text', answer: false },
    { actual: 'inv-2026-17', expected: '[', kind: 'text', answer: null },
  ],
});

/** Whether a part of `text` matches an RE2 pattern, in time proportional to both; undefined where the pattern is none, or too much for the text. */
export function matchesPattern(text: string, pattern: string): boolean | undefined {
  const ready = compilePattern(pattern);
  return 'pattern' in ready && text.length * ready.size <= MAX_STEPS ? ready.pattern.test(text) : undefined;
}

/** The steps that matching takes at worst, where there is a pattern: for whoever matches more than once. */
export function matchingSteps(text: string, pattern: string): number {
  const ready = compilePattern(pattern);
  return 'pattern' in ready ? text.length * ready.size : pattern.length;
}

/** What is wrong with an RE2 pattern, in words; undefined where nothing is. */
export function checkPattern(pattern: string): string | undefined {
  const ready = compilePattern(pattern);
  return 'mistake' in ready ? ready.mistake : undefined;
}

function compilePattern(source: string): Compiled {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const ready = compileAnew(source);
  const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
  if (oldest !== undefined) compiled.delete(oldest);
  if (source.length <= MAX_PATTERN_LENGTH) compiled.set(source, ready);
  return ready;
}

function compileAnew(source: string): Compiled {
  if (source.length > MAX_PATTERN_LENGTH) {
    return { mistake: `expected a pattern of at most ${MAX_PATTERN_LENGTH} characters, given ${source.length}` };
  }
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    return size > MAX_PROGRAM_SIZE ? { mistake: 'the pattern repeats too much' } : { pattern, size };
  } catch (error) {
    if (error instanceof RE2JSException) return { mistake: `expected an RE2 pattern: ${error.message}` };
    throw error;
  }
}
