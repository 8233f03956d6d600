import { RE2JS, RE2JSException } from 're2js';
import { defineOperator, validateText } from './define-operator.ts';
import { IN_MEMORY, type Operator } from './operator.ts';
import { type Json, UNKNOWN } from './value.ts';

/** Maximum number of characters of a pattern. The compiled program grows with the pattern. */
const MAX_PATTERN_LENGTH = 1000;
/** Maximum number of instructions of a compiled pattern. The time of a match is proportional to their number. */
const MAX_PROGRAM_SIZE = 10_000;
const MAX_COMPILED = 500;
/**
 * Maximum number of steps of one match: characters of the text times instructions of the pattern. They take about 20 milliseconds at worst, in
 * which no other request continues. Clients can send long patterns and long texts. Above the limit the result is unknown. The limit counts
 * steps instead of time, so that every machine gives the same result, and each match has its own, so that no result depends on what was
 * evaluated before.
 */
export const MAX_MATCHING_STEPS = 200_000;

/** A compiled pattern, or the mistake in it. */
type Compiled = { readonly pattern: RE2JS; readonly size: number } | { readonly mistake: string };

/** Compiled patterns; the oldest is evicted. Policies have few patterns, but clients may send many. */
const compiled = new Map<string, Compiled>();

export const matches: Operator = defineOperator({
  name: 'matches',
  label: 'matches',
  summary: 'Part of the text matches the regular expression (RE2 syntax). Use `^` and `$` to match the whole text.',
  otherNames: '=~ ~* regex regexp match imatch iregex similar pattern regexmatch',
  kinds: ['text', 'json'],
  operand: 'pattern',
  validateOperand: (expected) => validateText(expected) ?? validatePattern(String(expected)),
  evaluate: (actual: Json, expected: Json) =>
    typeof actual !== 'string' || typeof expected !== 'string' ? UNKNOWN : (matchesPattern(actual, expected) ?? UNKNOWN),
  compile: () => IN_MEMORY,
  samples: [
    { actual: 'INV-2026-17', expected: '^INV-\\d{4}-', kind: 'text', result: true },
    { actual: 'inv-2026-17', expected: '^INV-\\d{4}-', kind: 'text', result: false },
    { actual: 'inv-2026-17', expected: '[', kind: 'text', result: null },
  ],
});

/** Returns true if part of `text` matches an RE2 pattern; undefined if the pattern is invalid or the match would take too many steps. */
export function matchesPattern(text: string, pattern: string): boolean | undefined {
  const ready = compilePattern(pattern);
  return 'pattern' in ready && text.length * ready.size <= MAX_MATCHING_STEPS ? ready.pattern.test(text) : undefined;
}

/** Returns the maximum number of steps of a match, for callers that limit the steps of several matches. */
export function maxMatchingSteps(text: string, pattern: string): number {
  const ready = compilePattern(pattern);
  return 'pattern' in ready ? text.length * ready.size : pattern.length;
}

/** Returns a message for an invalid RE2 pattern. */
export function validatePattern(pattern: string): string | undefined {
  const ready = compilePattern(pattern);
  return 'mistake' in ready ? ready.mistake : undefined;
}

function compilePattern(source: string): Compiled {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const ready = compileSource(source);
  const oldest = compiled.size >= MAX_COMPILED ? compiled.keys().next().value : undefined;
  if (oldest !== undefined) compiled.delete(oldest);
  if (source.length <= MAX_PATTERN_LENGTH) compiled.set(source, ready);
  return ready;
}

function compileSource(source: string): Compiled {
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
