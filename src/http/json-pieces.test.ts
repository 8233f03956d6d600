import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { casesOf } from '../../test/budget.ts';
import { isLargeJson, toJsonPieces } from './json-pieces.ts';

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 5 }),
  fc.integer({ min: 1, max: 200_000 }).map((length) => '"é'.repeat(length / 2)),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('list'), tie('object')),
  leaf: fc.oneof(text, fc.double(), fc.boolean(), fc.constantFrom(null, undefined, new Date(0), new Date(Number.NaN))),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'toJSON')), tie('value'), { maxKeys: 4 }),
}));

async function piecesOf(whole: unknown): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of toJsonPieces(whole)) pieces.push(piece);
  return pieces;
}

describe('toJsonPieces', () => {
  it('yields the text of JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (data) => {
        const body = { success: true, data };
        expect((await piecesOf(body)).join('') === JSON.stringify(body)).toBe(true);
      }),
      { numRuns: casesOf(50) },
    );
  });

  it('yields pieces that exceed their length by at most one item', async () => {
    const pieces = await piecesOf({ data: Array.from({ length: 40 }, (_, n) => ({ id: n, body: 'a'.repeat(50_000) })) });
    expect(pieces.length).toBeGreaterThan(10);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000);
  });

  it('lets other requests continue between two pieces', async () => {
    let turns = 0;
    let isOver = false;
    const countTurn = (): void => {
      turns++;
      if (!isOver) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    const pieces = await piecesOf(Array.from({ length: 10 }, () => 'a'.repeat(150_000)));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
  });
});

describe('isLargeJson', () => {
  it.each([
    ['a short text', 'a', false],
    ['a long text', 'a'.repeat(200_000), true],
    ['a page of small records', { data: Array.from({ length: 200 }, (_, id) => ({ id, title: 'Title' })) }, false],
    ['one large record among small ones', { data: [{ id: 1 }, { body: 'a'.repeat(200_000) }, { id: 2 }] }, true],
    ['many numbers', { data: Array.from({ length: 50_000 }, (_, n) => n) }, true],
    ['long names', { data: { ['a'.repeat(200_000)]: 1 } }, true],
  ])('tells the size of %s', (_, body, isLarge) => {
    expect(isLargeJson(body)).toBe(isLarge);
  });
});
