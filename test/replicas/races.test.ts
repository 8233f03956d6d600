/** Four replica processes that start and receive requests at the same time: what must be unique happens once. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createRaces, type Started } from './races.ts';

const races = createRaces(inject('postgres') ?? '');
let started: Started;
beforeAll(async () => {
  started = await races.start();
}, 120_000);
afterAll(() => races.close());

it('the tables are created once, with one admin', () => {
  expect(started).toEqual({ histories: 1, setUp: { 201: 1, 409: 11 } });
});

/** Few rounds: `test/long/` has many. */
it('concurrent requests create one record and one assignment, remove it once, and leave an admin', async () => {
  expect(await races.run(2)).toEqual([]);
});
