import { describe, expect, it } from 'vitest';
import { celLibrary } from './cel-library.ts';
import { bracketDepth } from './cel-tokens.ts';

/** Texts, bytes and comments of CEL that contain a bracket or a quote. Each is followed by a value. */
const LITERALS = [
  '")"',
  "')'",
  '"""a")"b"""',
  "'''a')'b'''",
  '"""\n)"""',
  'r")"',
  "R')'",
  'r"\\"',
  "r'\\'",
  'r"""\\)"""',
  "R'''\\)'''",
  'b")"',
  "B')'",
  'b"""a")"b"""',
  'br")"',
  "bR'\\'",
  '"\\")"',
  "'\\')'",
  '"\\\\"',
  '"\')"',
  "'\")'",
  '"""\\""")"""',
  '"// )"',
  '""',
  "''",
  '""""""',
  '// )\n1',
  '// "\n1',
  "// ')\r1",
];

describe('bracketDepth', () => {
  it.each([
    ['1', 0],
    ['(1)', 1],
    ['(1) + (2)', 1],
    ['[({1: [2]})]', 4],
    ['((1', 2],
    ['(1 / (2))', 2],
    ['"((("', 0],
    ['"((("((', 2],
    ['"(((', 0],
  ])('the depth of %j is %i', (source, depth) => {
    expect(bracketDepth(source)).toBe(depth);
  });

  it.each(LITERALS)('a bracket in or behind the literal %j is counted as the parser of CEL reads it', (literal) => {
    const nested = (levels: number): string => `${`(${literal} + `.repeat(levels)}1${')'.repeat(levels)}`;
    expect(() => celLibrary().parse(nested(3))).not.toThrow();
    expect(bracketDepth(nested(3))).toBe(3);
    expect(bracketDepth(`${literal}${'('.repeat(50)}`)).toBe(50);
  });
});
