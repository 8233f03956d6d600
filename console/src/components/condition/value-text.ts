/** Values of any kind as text: a text without quotes, unless it could be read as another value or has a line break. */
import { hasLineBreak } from '../line-breaks.ts';

/** Returns a value as text. */
export function printAny(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value);
}

/** Reads a text as JSON; other texts are themselves. */
export function parseAny(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text without quotes.
    return text;
  }
}

function isPlain(text: string): boolean {
  return parseAny(text) === text && !hasLineBreak(text);
}
