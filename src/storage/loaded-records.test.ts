import { expect, it } from 'vitest';
import type { Transaction } from './contract.ts';
import { createFoundMaps, forgetLoadedRecords } from './loaded-records.ts';

const DEFINITIONS = new Map();
const open = createFoundMaps<number>((size) => size);
const newTransaction = (): Transaction => ({}) as Transaction;

it('Stores of a transaction share what they have loaded, those of others do not', () => {
  const tx = newTransaction();
  open(tx, DEFINITIONS).add('a', 1);
  const later = open(tx, DEFINITIONS);
  expect([later.size, later.get('a'), later.size]).toEqual([0, 1, 1]);
  expect(open(newTransaction(), DEFINITIONS).get('a')).toBeUndefined();
  expect(open(tx, new Map()).get('a')).toBeUndefined();
});

it('Stores share nothing after too many records, and share again what is loaded then', () => {
  const tx = newTransaction();
  open(tx, DEFINITIONS).add('a', 20_001);
  expect(open(tx, DEFINITIONS).get('a')).toBeUndefined();
  open(tx, DEFINITIONS).add('b', 1);
  expect(open(tx, DEFINITIONS).get('b')).toBe(1);
});

it.each([1, 20_001])('Stores share nothing after a write, also after %i further records', (size) => {
  const tx = newTransaction();
  open(tx, DEFINITIONS).add('a', 1);
  forgetLoadedRecords(tx);
  open(tx, DEFINITIONS).add('b', size);
  open(tx, DEFINITIONS).add('c', 1);
  expect(['a', 'b', 'c'].map((key) => open(tx, DEFINITIONS).get(key))).toEqual([undefined, undefined, undefined]);
});
