import { Problem } from '../../errors.ts';

/**
 * What columns hold, as rows of SQLite hold it: integers as numbers, those beyond 2^53 as bigints; true and false as 1 and 0;
 * everything else as the text it is, JSON too. By the ids that PostgreSQL gives its types.
 */
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, toInteger],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  // What a sum of integers is; nothing of ours is a numeric otherwise.
  [1700, (text) => (text.includes('.') ? Number(text) : toInteger(text))],
]);

const AS_IT_IS = (text: string): unknown => text;

/** Reads column values by their type. */
export const COLUMN_TYPES: { getTypeParser(id: number): (text: string) => unknown } = Object.freeze({
  getTypeParser: (id: number) => READERS.get(id) ?? AS_IT_IS,
});

/**
 * A value as it is sent. The server would refuse NUL in a text, and the transaction with it.
 *
 * @throws Problem VALUE_INVALID
 */
export function toBound(value: unknown): unknown {
  if (typeof value === 'string' && value.includes('\u0000')) throw new Problem('VALUE_INVALID', 'expected text without NUL characters');
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return value === undefined ? null : value;
}

function toInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
