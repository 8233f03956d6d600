/** Four replicas, each a process of its own, started and asked at the same time: what must not happen twice happens once. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createRacing, type Started } from './races.ts';

const races = createRacing(inject('postgres') ?? '');
let started: Started;
beforeAll(async () => {
  started = await races.start();
}, 120_000);
afterAll(() => races.close());

it('makes the tables once, and one admin', () => {
  expect(started).toEqual({ histories: 1, setUp: { 201: 1, 409: 11 } });
});

/** Few: `test/long/` has many rounds. */
it('makes one record, one assignment, takes it away once, and leaves an admin', async () => {
  expect(await races.run(2)).toEqual([]);
});
