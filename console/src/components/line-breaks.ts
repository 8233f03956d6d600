/** Returns true for a text that a field of one line cannot show. */
export function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}
