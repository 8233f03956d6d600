import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

/**
 * Any character of Unicode, as the unit of `fc.string`. The unit `binary` of fast-check is the same, but makes a table of a million characters in
 * each process, to find out which texts can be made of them.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(LAST - SURROGATES).map(toCharacter, toIndex);

function toCharacter(index: number): string {
  return String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES);
}

/** Returns the number of a character. @throws if the value is not one character, as fast-check expects it */
function toIndex(value: unknown): number {
  const [character, more] = typeof value === 'string' ? [...value] : [];
  if (character === undefined || more !== undefined || !character.isWellFormed()) throw new Error('expected one character');
  const code = character.codePointAt(0) as number;
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}
