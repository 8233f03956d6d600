const OPENING = '([{';
const CLOSING = ')]}';
const QUOTES = '"\'';

/** Returns the maximum nesting of brackets in a CEL expression, without those in texts and comments. The time is linear in its length. */
export function bracketDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at);
    if (OPENING.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.includes(character)) depth--;
    else if (QUOTES.includes(character)) at = endOfText(source, at);
    else if (character === '/' && source.charAt(at + 1) === '/') at = endOfLine(source, at);
  }
  return deepest;
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
