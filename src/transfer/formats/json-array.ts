import { Problem } from '../../errors.ts';
import { parseRow } from './parse-line.ts';
import type { SourceOptions, SourceRow } from './read-rows.ts';

/**
 * The items of one JSON array, each parsed when it is whole. Only where items begin and end is looked for here: brackets and
 * commas outside of texts. What lies between is for `JSON.parse` to judge.
 */
export async function* parseJsonArray(texts: AsyncIterable<string>, options: SourceOptions): AsyncGenerator<SourceRow> {
  const splitter = createSplitter(options.rowLength);
  let row = 0;
  for await (const text of texts) {
    for (const item of splitter.push(text)) yield parseRow(++row, item, options);
  }
  splitter.end();
}

interface Splitter {
  /** The items that are whole by now. */
  push(text: string): readonly string[];
  /** Throws where the array is not whole. */
  end(): void;
}

/** Where the splitter stands: before the array, in it where an item or its end may come, in an item, behind one, behind the array. */
type Place = 'array' | 'first' | 'next' | 'item' | 'comma' | 'over';

function createSplitter(maxLength: number): Splitter {
  const ends = createItemEnds();
  let place: Place = 'array';
  let item = '';

  /** Passes over what stands between items; gives the index at which one begins, or the text's end. */
  function skipTo(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (SPACE.has(character)) continue;
      place = behind(place, character);
      if (place === 'item') return at;
    }
    return text.length;
  }

  /** Takes what of the item is there; gives the index behind it. */
  function takeFrom(text: string, from: number): number {
    const end = ends.find(text, from);
    const to = end === -1 ? text.length : end;
    if (item.length + to - from > maxLength)
      throw new Problem('REQUEST_MALFORMED', `expected items of at most ${maxLength} characters in the array`);
    item += text.slice(from, to);
    if (end !== -1) place = 'comma';
    return to;
  }

  return {
    push(text) {
      const items: string[] = [];
      for (let at = 0; at < text.length; ) {
        if (place !== 'item') at = skipTo(text, at);
        else at = takeFrom(text, at);
        if (place !== 'comma' || item === '') continue;
        items.push(item);
        item = '';
      }
      return items;
    },
    end() {
      if (place !== 'over') throw new Problem('REQUEST_MALFORMED', 'the array in the body is not whole: it ends before its last bracket');
    },
  };
}

const SPACE: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r']);

/** Where a character between items leads. */
function behind(place: Place, character: string): Place {
  if (place === 'array' && character === '[') return 'first';
  if (place === 'first' && character === ']') return 'over';
  if (place === 'comma' && character === ',') return 'next';
  if (place === 'comma' && character === ']') return 'over';
  if ((place === 'first' || place === 'next') && character !== ',' && character !== ']') return 'item';
  const expected = EXPECTED.get(place) ?? 'a record';
  throw new Problem('REQUEST_MALFORMED', `expected ${expected} in the array of the body, given ${JSON.stringify(character)}`);
}

const EXPECTED: ReadonlyMap<Place, string> = new Map([
  ['array', 'an opening bracket'],
  ['comma', 'a comma or the closing bracket'],
  ['over', 'nothing behind the closing bracket'],
]);

interface ItemEnds {
  /** The index of the comma or bracket behind the item that `from` lies in, or -1 where it goes on beyond the text. */
  find(text: string, from: number): number;
}

/** Follows one item after another through texts that may break anywhere. */
function createItemEnds(): ItemEnds {
  let depth = 0;
  let inText = false;
  /** The text before ended in a backslash. */
  let hidesNext = false;

  return {
    find(text, from) {
      // Its own, and from the start: where the last text ended says nothing in this one.
      const mark = /["\\[\]{},]/g;
      mark.lastIndex = hidesNext ? from + 1 : from;
      hidesNext = false;
      for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
        const [character] = found;
        if (character === '"') inText = !inText;
        else if (inText && character === '\\') {
          hidesNext = found.index + 1 === text.length;
          mark.lastIndex = found.index + 2;
        } else if (inText) continue;
        else if (character === '{' || character === '[') depth++;
        else if (depth > 0 && character !== ',' && character !== '\\') depth--;
        else if (depth === 0 && (character === ',' || character === ']')) return found.index;
      }
      return -1;
    },
  };
}
