const OPENING = '([{';
const CLOSING = ')]}';
const QUOTES = '"\'';

/** Matches an identifier, a keyword or a number. */
const WORD = /[A-Za-z_]\w*|(?:0x[\dA-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[uU]?/y;
/** Matches the beginning of raw texts and bytes. */
const PREFIX = /^[rRbB]{1,2}$/;
const OPERATORS: ReadonlySet<string> = new Set(['&&', '||', '==', '!=', '<=', '>=']);

/** A word, text, bracket or operator of an expression: the indices of its first UTF-16 code unit and of the one behind it. */
export interface CelToken {
  readonly start: number;
  readonly end: number;
  /** 1 for an opening bracket, -1 for a closing one, otherwise 0. */
  readonly nesting: -1 | 0 | 1;
}

/** Returns the tokens of a CEL expression, without spaces and comments. The time is linear in its length. */
export function tokensOf(source: string): readonly CelToken[] {
  const tokens: CelToken[] = [];
  for (let at = 0; at < source.length; ) {
    const character = source.charAt(at);
    if (source.startsWith('//', at)) at = endOfLine(source, at);
    else if (character.trim() === '') at++;
    else {
      const end = endOfToken(source, at);
      tokens.push({ start: at, end, nesting: OPENING.includes(character) ? 1 : CLOSING.includes(character) ? -1 : 0 });
      at = end;
    }
  }
  return tokens;
}

/** Returns the maximum nesting of brackets in a CEL expression, without those in texts and comments. */
export function bracketDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const { nesting } of tokensOf(source)) {
    depth += nesting;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function endOfToken(source: string, start: number): number {
  WORD.lastIndex = start;
  const word = WORD.exec(source)?.[0] ?? '';
  const behind = start + word.length;
  const isText = QUOTES.includes(source.charAt(behind)) && behind < source.length && (word === '' || PREFIX.test(word));
  if (isText) return Math.min(endOfText(source, behind) + 1, source.length);
  if (word !== '') return behind;
  if (OPERATORS.has(source.slice(start, start + 2))) return start + 2;
  return start + ((source.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}

/** Returns the index of the last quote of the text that starts at `start`, or the length of the source if the text is not closed. */
function endOfText(source: string, start: number): number {
  const quote = source.charAt(start);
  const triple = quote.repeat(3);
  const closing = source.startsWith(triple, start) ? triple : quote;
  // In a raw text, such as r"\", a backslash does not escape the quote. The prefix of bytes (b) comes before that of raw texts (r).
  const isRaw = /[rR]/.test(source.charAt(start - 1));
  for (let at = start + closing.length; at < source.length; at++) {
    if (source.startsWith(closing, at)) return at + closing.length - 1;
    if (!isRaw && source.charAt(at) === '\\') at++;
  }
  return source.length;
}

function endOfLine(source: string, start: number): number {
  for (let at = start; at < source.length; at++) if ('\r\n'.includes(source.charAt(at))) return at;
  return source.length;
}
