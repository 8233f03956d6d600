import { expect, it } from 'vitest';
import { createLostTime } from './lost-time.ts';

it('shortens the short attempts of a caller that lost time, until the time is forgiven', () => {
  let now = 0;
  const lost = createLostTime({ short: 250, now: () => now });
  lost.add('one', 250);
  expect([lost.limitFor('one'), lost.limitFor('other')]).toEqual([25, 250]);
  now = 4999;
  expect(lost.limitFor('one')).toBe(25);
  now = 5000;
  expect(lost.limitFor('one')).toBe(250);
});

it('remembers a bounded loss', () => {
  let now = 0;
  const lost = createLostTime({ short: 250, now: () => now });
  for (let count = 0; count < 100; count++) lost.add('one', 250);
  now = 19_999;
  expect(lost.limitFor('one')).toBe(25);
  now = 20_000;
  expect(lost.limitFor('one')).toBe(250);
});

it('forgets callers whose loss is forgiven', () => {
  let now = 0;
  const lost = createLostTime({ short: 250, now: () => now });
  for (let count = 0; count < 1000; count++) lost.add(`caller ${count}`, 1);
  now = 100;
  lost.add('one', 250);
  expect([lost.limitFor('caller 0'), lost.limitFor('one')]).toEqual([250, 25]);
});

it('shortens the short attempts of all callers if they have lost too much together', () => {
  let now = 0;
  const lost = createLostTime({ short: 10, shared: 50, now: () => now });
  for (const caller of ['a', 'b', 'c', 'd', 'e']) lost.add(caller, 10);
  expect(lost.limitFor('other')).toBe(10);
  lost.add('f', 10);
  expect(lost.limitFor('other')).toBe(1);
  now += 200;
  expect([lost.limitFor('other'), lost.limitFor('f')]).toEqual([10, 10]);
});
