/**
 * Folds the case of a text like Unicode's full default case folding, except that the result is upper case: ß, ẞ and SS are equal,
 * Σ, σ and ς are equal, and the Turkish ı differs from i.
 */
export function foldCase(text: string): string {
  // Upper case alone keeps ẞ and ß distinct, lower case alone keeps ς and σ distinct. The dotless ı would become I.
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase())
    .join('ı');
}
