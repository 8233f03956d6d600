import { describe, expect, it } from 'vitest';
import { createId } from '../ids.ts';
import { MAX_POSITION_TEXT, parsePositionText, type TailPosition, toPositionText } from './tail-position.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const HOUR = 3_600_000;

const positionOf = (chains: number, at = NOW): TailPosition => ({
  since: NOW - HOUR,
  heads: new Map(Array.from({ length: chains }, (_, index) => [createId(), { sequence: index * 1_000_000_007, at: at - index }])),
});

describe('the text of a position', () => {
  it.each([0, 1, 400])('keeps the time and the numbers of %i chains', (chains) => {
    const position = positionOf(chains);
    const parsed = parsePositionText(toPositionText(position), NOW);
    const sequences = ({ heads }: TailPosition) => [...heads].map(([writer, { sequence }]) => [writer, sequence]);
    expect(parsed.since).toBe(position.since);
    expect(sequences(parsed)).toEqual(sequences(position));
  });

  it('leaves out chains without recent entries', () => {
    expect(parsePositionText(toPositionText(positionOf(10, NOW - 3 * HOUR)), NOW).heads.size).toBe(0);
  });

  it('the length is bounded', () => {
    const text = toPositionText(positionOf(10_000));
    expect(text.length).toBeLessThanOrEqual(MAX_POSITION_TEXT);
    expect(text).toMatch(/^[\w.-]+$/);
    expect(parsePositionText(text, NOW).heads.size).toBe(400);
  });

  it.each(['', 'x', '..', 'mi000000.', 'mi000000.short', 'zzzzzzzz', `mi000000.${'a'.repeat(20_000)}`, 'mi000000\n'])(
    'refuses the malformed text %j',
    (text) => {
      expect(() => parsePositionText(text, NOW)).toThrow(/id of an event/);
    },
  );
});
