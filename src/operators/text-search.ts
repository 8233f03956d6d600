/**
 * Searches of parts and patterns in well-formed texts. Clients can choose both, so the time must not be the product of both lengths, as that of
 * `String.includes` is at worst.
 */

/** Maximum characters that `indexOf` searches. */
const MAX_INDEX_OF = 32;
/** The wildcard for one character. */
const ANY = '?';

/** Returns true if the text contains the part. */
export function includesPart(text: string, part: string): boolean {
  return findPart(text, part, 0) !== -1;
}

/** Returns true if the whole text matches the pattern: `*` matches any characters, `?` matches one. */
export function matchesWildcards(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  let end = matchFrom(text, first, 0);
  if (last === undefined) return end === text.length;
  for (const part of others) {
    if (end === -1) return false;
    // The first match of each part leaves the longest rest for those after it.
    end = findMatch(text, part, end);
  }
  return end !== -1 && matchesEnd(text, last, end);
}

/** Returns the end of a match of the part that begins at `from`, or -1. */
function matchFrom(text: string, part: string, from: number): number {
  let at = from;
  for (const character of part) {
    if (character === ANY ? at >= text.length : !text.startsWith(character, at)) return -1;
    at += character === ANY ? widthAt(text, at) : character.length;
  }
  return at;
}

/** Returns true if the end of the text matches the part, at `from` or later. */
function matchesEnd(text: string, part: string, from: number): boolean {
  let start = text.length;
  for (const _ of part) start -= isLowSurrogate(text.charCodeAt(start - 1)) ? 2 : 1;
  return start >= from && matchFrom(text, part, start) !== -1;
}

/** Returns the end of the first match of the part after `from`, or -1. */
function findMatch(text: string, part: string, from: number): number {
  return part.includes(ANY) ? findCharacters(text, Array.from(part), from) : findPart(text, part, from);
}

/** Returns the end of the first occurrence of the part after `from`, or -1. A long part is searched by the algorithm of Knuth, Morris and Pratt. */
function findPart(text: string, part: string, from: number): number {
  const first = text.indexOf(part.slice(0, MAX_INDEX_OF), from);
  if (first === -1 || part.length <= MAX_INDEX_OF) return first === -1 ? -1 : first + part.length;
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = first; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (part.charCodeAt(matched) === unit) matched++;
    if (matched === part.length) return at + 1;
  }
  return -1;
}

/** Returns for each beginning of a part the length of its longest proper beginning that is also its end. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    while (matched > 0 && part.charCodeAt(matched) !== part.charCodeAt(at)) matched = borders[matched - 1] as number;
    if (part.charCodeAt(matched) === part.charCodeAt(at)) matched++;
    borders[at] = matched;
  }
  return borders;
}

/**
 * Returns the end of the first match of characters after `from`, or -1. The algorithm is Shift-And (Baeza-Yates and Gonnet): bit n of the state is 1 if
 * the last n + 1 characters of the text match the first n + 1. Each character of the text takes one step for 32 of them.
 */
function findCharacters(text: string, characters: readonly string[], from: number): number {
  const { masks, anyMask } = createMasks(characters);
  const state = new Uint32Array(anyMask.length);
  const lastWord = anyMask.length - 1;
  const lastBit = 1 << ((characters.length - 1) & 31);
  // The words from here on are 0.
  let used = 0;
  for (let at = from; at < text.length; ) {
    const mask = masks.get(text.codePointAt(at) as number) ?? anyMask;
    at += widthAt(text, at);
    const end = Math.min(used, lastWord);
    used = 0;
    for (let word = 0, carry = 1; word <= end; word++) {
      const before = state[word] as number;
      const after = ((before << 1) | carry) & (mask[word] as number);
      state[word] = after;
      carry = before >>> 31;
      if (after !== 0) used = word + 1;
    }
    if (((state[lastWord] as number) & lastBit) !== 0) return at;
  }
  return -1;
}

interface Masks {
  /** The positions of each code point and of the wildcards, as bits. */
  readonly masks: ReadonlyMap<number, Uint32Array>;
  /** The positions of the wildcards. */
  readonly anyMask: Uint32Array;
}

function createMasks(characters: readonly string[]): Masks {
  const anyMask = new Uint32Array(Math.ceil(characters.length / 32));
  for (const [index, character] of characters.entries()) if (character === ANY) setBit(anyMask, index);
  const masks = new Map<number, Uint32Array>();
  for (const [index, character] of characters.entries()) {
    if (character === ANY) continue;
    const point = character.codePointAt(0) as number;
    const mask = masks.get(point) ?? anyMask.slice();
    setBit(mask, index);
    masks.set(point, mask);
  }
  return { masks, anyMask };
}

function setBit(mask: Uint32Array, index: number): void {
  mask[index >>> 5] = (mask[index >>> 5] as number) | (1 << (index & 31));
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
