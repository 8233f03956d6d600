/** Characters of a piece. Serializing one takes about half a millisecond. */
const PIECE_LENGTH = 131_072;
/** Characters that a value other than a text counts for. */
const VALUE_LENGTH = 8;

/** Returns true if the JSON of a value may be so long that it is serialized in pieces. Visits no more than a piece of the value. */
export function isLargeJson(value: unknown): boolean {
  return lengthLeft(value, PIECE_LENGTH) < 0;
}

/**
 * Serializes a value to the text of `JSON.stringify` in pieces, each in a turn of the event loop of its own, so that other requests
 * continue between them.
 */
export async function* toJsonPieces(value: unknown): AsyncGenerator<string> {
  let piece = '';
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield piece;
}

/**
 * Returns the length that is left after subtracting a value; negative if it is longer. Stops there. Texts and other simple members are
 * subtracted without a call for each, because every response is measured.
 */
function lengthLeft(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  if (typeof value !== 'object' || value === null) return length - VALUE_LENGTH;
  let left = length;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) {
      const item: unknown = value[index];
      left = typeof item === 'string' ? left - item.length : lengthLeft(item, left);
    }
    return left;
  }
  for (const name in value) {
    if (left < 0) return left;
    const member = (value as Record<string, unknown>)[name];
    left -= name.length;
    if (typeof member === 'string') left -= member.length;
    else left = typeof member === 'object' && member !== null ? lengthLeft(member, left) : left - VALUE_LENGTH;
  }
  return left;
}

/** Yields the text of a value: of a large list item by item, of a large object member by member. */
function* partsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value || !isLargeJson(value)) {
    // `undefined` in a list is null; members without a value are left out below.
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) yield* listParts(value);
  else yield* objectParts(value);
}

function* listParts(list: readonly unknown[]): Generator<string> {
  yield '[';
  for (const [index, item] of list.entries()) {
    if (index > 0) yield ',';
    yield* partsOf(item);
  }
  yield ']';
}

function* objectParts(object: object): Generator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* partsOf(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}
