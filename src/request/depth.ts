import { Problem } from '../errors.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON text that nests deeper than `max` arrays and objects, before it is parsed: what is parsed is walked
 * by recursive code later, and a body of 100,000 brackets must not get that far.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function checkDepth(json: string, max: number): void {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (OPENING.has(code)) {
      depth++;
      if (depth > max) throw new Problem('REQUEST_MALFORMED', `expected at most ${max} levels of nesting in the body, more were given`);
    } else if (CLOSING.has(code)) {
      depth--;
    }
  }
}

/** Index of the quote that ends the string beginning at `start`; the end of the text where none does. */
function endOfString(json: string, start: number): number {
  let at = start;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at === -1) return json.length;
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
}
