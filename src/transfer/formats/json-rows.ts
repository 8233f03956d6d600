import { Problem } from '../../errors.ts';
import { parseRow, type RowLimits, type SourceRow, toUnreadable } from './format.ts';

/**
 * Parses NDJSON: an object per line. A line that is invalid or too long is reported, and the next line is parsed. Empty lines are skipped
 * but counted.
 */
export async function* parseNdjson(texts: AsyncIterable<string>, limits: RowLimits): AsyncGenerator<SourceRow> {
  const completeLines = createLines(limits.rowLength);
  let row = 0;
  // Not asynchronous, because a promise for each of a million empty lines would take long.
  const rowsIn = function* (text: string): Generator<SourceRow | Promise<SourceRow>> {
    for (const line of completeLines(text)) {
      row++;
      if (line === undefined) yield toUnreadable(row, `expected a line of at most ${limits.rowLength} characters`, 0);
      else if (line.trim() !== '') yield parseRow(row, line, limits);
    }
  };
  for await (const text of texts) yield* rowsIn(text);
  // The last line may have no line end.
  yield* rowsIn('\n');
}

/**
 * Creates a function that adds a text, and yields the lines that the text completes, without their line ends, and undefined for a line that
 * is too long. Never holds more than `maxLength` characters of a line.
 */
function createLines(maxLength: number): (text: string) => Generator<string | undefined> {
  let parts: string[] = [];
  let length = 0;
  const take = (part: string): void => {
    length += part.length;
    if (length <= maxLength) parts.push(part);
    else parts = [];
  };
  const end = (): string | undefined => {
    const line = length <= maxLength ? parts.join('') : undefined;
    parts = [];
    length = 0;
    return line;
  };
  return function* (text) {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      take(text.slice(from, to));
      yield end();
      from = to + 1;
    }
    take(text.slice(from));
  };
}

/**
 * Parses a JSON array item by item. The splitter finds only where items begin and end: brackets and commas outside of strings.
 * `JSON.parse` validates each item.
 */
export async function* parseJsonArray(texts: AsyncIterable<string>, limits: RowLimits): AsyncGenerator<SourceRow> {
  const splitter = createSplitter(limits.rowLength);
  let row = 0;
  for await (const text of texts) {
    for (const item of splitter.push(text)) yield parseRow(++row, item, limits);
  }
  splitter.end();
}

interface Splitter {
  /** Adds text. Returns the texts of the items that the added text completes. */
  push(text: string): readonly string[];
  /** Throws if the array is incomplete. */
  end(): void;
}

/** The position of the splitter: before the array, before the first item, before another item, in an item, after an item, after the array. */
type Position = 'array' | 'first' | 'next' | 'item' | 'comma' | 'over';

function createSplitter(maxLength: number): Splitter {
  const ends = createItemEnds();
  let position: Position = 'array';
  let item = '';

  /** Returns the index at which the next item begins, or the length of the text. */
  function skipTo(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (WHITE_SPACE.has(character)) continue;
      position = nextPosition(position, character);
      if (position === 'item') return at;
    }
    return text.length;
  }

  /** Appends text to the item, at most up to the end of the item. Returns the index after the appended text. */
  function takeFrom(text: string, from: number): number {
    const end = ends.find(text, from);
    const to = end === -1 ? text.length : end;
    if (item.length + to - from > maxLength)
      throw new Problem('REQUEST_MALFORMED', `expected items of at most ${maxLength} characters in the array`);
    item += text.slice(from, to);
    if (end !== -1) position = 'comma';
    return to;
  }

  return {
    push(text) {
      const items: string[] = [];
      for (let at = 0; at < text.length; ) {
        if (position !== 'item') at = skipTo(text, at);
        else at = takeFrom(text, at);
        if (position !== 'comma' || item === '') continue;
        items.push(item);
        item = '';
      }
      return items;
    },
    end() {
      if (position !== 'over') throw new Problem('REQUEST_MALFORMED', 'the array in the body is incomplete: it has no closing bracket');
    },
  };
}

const WHITE_SPACE: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r']);

/** Returns the position after a bracket, a comma or the first character of an item. Throws REQUEST_MALFORMED for another character. */
function nextPosition(position: Position, character: string): Position {
  if (position === 'array' && character === '[') return 'first';
  if (position === 'first' && character === ']') return 'over';
  if (position === 'comma' && character === ',') return 'next';
  if (position === 'comma' && character === ']') return 'over';
  if ((position === 'first' || position === 'next') && character !== ',' && character !== ']') return 'item';
  const expected = EXPECTED.get(position) ?? 'a record';
  throw new Problem('REQUEST_MALFORMED', `expected ${expected} in the array of the body, given ${JSON.stringify(character)}`);
}

const EXPECTED: ReadonlyMap<Position, string> = new Map([
  ['array', 'an opening bracket'],
  ['comma', 'a comma or the closing bracket'],
  ['over', 'nothing behind the closing bracket'],
]);

interface ItemEnds {
  /** Returns the index of the comma or bracket after the item that contains `from`, or -1 if the item continues in the next text. */
  find(text: string, from: number): number;
}

/** Tracks nesting and strings across texts, which can break anywhere. */
function createItemEnds(): ItemEnds {
  let depth = 0;
  let inString = false;
  /** True if the previous text ended in a backslash that escapes the next character. */
  let isEscaped = false;

  return {
    find(text, from) {
      // A new pattern per call, because `lastIndex` of the previous text does not apply.
      const mark = /["\\[\]{},]/g;
      mark.lastIndex = isEscaped ? from + 1 : from;
      isEscaped = false;
      for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
        const [character] = found;
        if (character === '"') inString = !inString;
        else if (inString && character === '\\') {
          isEscaped = found.index + 1 === text.length;
          mark.lastIndex = found.index + 2;
        } else if (inString) continue;
        else if (character === '{' || character === '[') depth++;
        else if (depth > 0 && character !== ',' && character !== '\\') depth--;
        else if (depth === 0 && (character === ',' || character === ']')) return found.index;
      }
      return -1;
    },
  };
}
