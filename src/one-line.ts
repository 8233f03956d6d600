/**
 * Matches characters that end a line, control a terminal, or change the order of the characters around them: controls of ASCII and U+0080 to
 * U+009F, separators of lines and paragraphs, and controls of bidirectional text.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** Replaces the characters that could forge a line or that a terminal would execute. Texts of requests, such as names and ids, can contain them. */
export function toOneLine(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}
