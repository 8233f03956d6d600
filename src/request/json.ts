import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { checkDepth } from './depth.ts';

/**
 * Parses a JSON body; undefined where it is empty.
 *
 * @throws Problem REQUEST_MALFORMED for what is not UTF-8, not JSON, nested too deeply, or has numbers that no computer number holds.
 */
export function readJson(body: Uint8Array, maxDepth: number): Json | undefined {
  if (body.byteLength === 0) return undefined;
  const text = decode(body);
  checkDepth(text, maxDepth);
  const value = parse(text);
  if (MAYBE_ENDLESS.test(text) && hasEndless(value)) {
    throw new Problem('REQUEST_MALFORMED', 'the body has a number that is too large: expected numbers below 1.8e308');
  }
  return value;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', `the body is not valid JSON${placeOf(error)}`, { cause: error });
  }
}

/** Without an exponent of three digits, or as many digits as that, a number cannot be too large: most bodies need not be walked. */
const MAYBE_ENDLESS = /\d[eE]\+?\d{3}|\d{309}/;

/** JSON.parse reads 1e400 as Infinity, which is no JSON: a condition would see it, and the record could not say it. */
function hasEndless(value: Json): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasEndless);
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'the body is not valid UTF-8', { cause: error });
  }
}

/** The parser's message repeats what was sent, so only the place is taken from it. */
function placeOf(error: unknown): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return line === undefined || column === undefined ? '' : `: line ${line}, column ${column}`;
}
