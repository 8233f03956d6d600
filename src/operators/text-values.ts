/**
 * Text as conditions see it: a sequence of Unicode code points, compared as stored, without normalisation
 * (`é` in one code point and `é` in two are different texts).
 */

/**
 * Negative, zero or positive in code point order, which is the order of UTF-8 bytes and so of the database.
 * JavaScript's own `<` goes by UTF-16 units and puts 😀 before U+FFFD.
 */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/**
 * Text in which letters that differ by case alone are the same: Unicode's full default folding, up to the choice of
 * the representative (ß, ẞ and SS are one; Σ, σ and ς are one; Turkish ı stays apart from i).
 */
export function foldCase(text: string): string {
  // Lower first, then upper: upper alone keeps ẞ from ß, lower alone keeps ς from σ. The dotless ı would become I.
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase())
    .join('ı');
}

/** The least text that is greater than every text beginning with `prefix`; undefined where there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (point) => point.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

/** Whether `text` is `pattern`, in which `*` stands for any characters and `?` for one. Takes time proportional to both lengths at worst. */
export function matchesWildcards(text: string, pattern: string): boolean {
  const characters = Array.from(text);
  const wanted = Array.from(pattern);
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    if (wanted[next] === '*') {
      star = next++;
      resume = at;
    } else if (next < wanted.length && (wanted[next] === '?' || wanted[next] === characters[at])) {
      next++;
      at++;
    } else if (star >= 0) {
      // The last star takes one character more; earlier stars never need another try.
      next = star + 1;
      at = ++resume;
    } else return false;
  }
  while (wanted[next] === '*') next++;
  return next === wanted.length;
}

/** Surrogates stand for code points above all others, yet their units lie below U+E000. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
