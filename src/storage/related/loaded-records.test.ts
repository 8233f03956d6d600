import { expect, it } from 'vitest';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import type { ChangedRecord } from './changed-record.ts';
import { createFoundMaps, forgetLoadedRecords } from './loaded-records.ts';

const DEFINITIONS = new Map();
const openFor = createFoundMaps<number>({ sizeOf: (size) => size, dependsOn: (found) => found === 13 });
const open = (tx: Transaction, definitions: Definitions, changed?: ChangedRecord) => openFor({ tx, definitions, changed });
const CHANGED = {} as ChangedRecord;
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

it('A store of a changed record shares no records that depend on it, in either direction', () => {
  const tx = newTransaction();
  const stored = open(tx, DEFINITIONS);
  stored.add('a', 1);
  stored.add('own', 13);
  const first = open(tx, DEFINITIONS, CHANGED);
  expect([first.get('a'), first.get('own')]).toEqual([1, undefined]);
  first.add('b', 2);
  first.add('changed', 13);
  expect([first.get('b'), first.get('changed'), first.size]).toEqual([2, 13, 16]);
  const later = open(tx, DEFINITIONS);
  expect(['b', 'own', 'changed'].map((key) => later.get(key))).toEqual([2, 13, undefined]);
});
