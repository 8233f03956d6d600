/**
 * Parses a JSON text. Refuses a name that an object has twice, as the service does: `JSON.parse` would keep only the last value.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (hasRepeatedName(text, value)) throw new SyntaxError('A name is given twice in an object.');
  return value;
}

/** Returns true if an object in a JSON text has a name twice: the parsed value then has fewer members than the text. */
export function hasRepeatedName(text: string, value: unknown): boolean {
  return countColons(text) > countMembers(value);
}

/** Returns the index after the string that begins at an index of a text; the length of the text if the string has no end. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at) - 1;
    else if (text[at] === ':') count++;
  }
  return count;
}

/** A loop, because the value may be nested too deep for recursion. */
function countMembers(value: unknown): number {
  let count = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const values: readonly unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += values.length;
    for (const each of values) open.push(each);
  }
  return count;
}
