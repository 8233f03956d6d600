import { expect, it } from 'vitest';
import { createReadTimes, type ReadTimes } from './read-times.ts';

/** Creates times with a clock that `wait` moves. */
function createTimes(): ReadTimes & { wait(milliseconds: number): void } {
  let now = 0;
  return {
    ...createReadTimes(() => now),
    wait(milliseconds) {
      now += milliseconds;
    },
  };
}

it('reads with a slow text rest for twenty times the time of the last one', () => {
  const times = createTimes();
  times.add('slow', 'ann', 90);
  expect([times.mayShare('slow', 'bob'), times.isResting('slow', 'bob'), times.mayShare('other', 'bob')]).toEqual([false, true, true]);
  times.wait(1800);
  expect([times.isResting('slow', 'bob'), times.mayShare('slow', 'bob')]).toEqual([false, true]);
});

it('reads of a slow caller rest too, also with other texts', () => {
  const times = createTimes();
  times.add('first', 'ann', 50);
  times.add('second', 'ann', 50);
  expect([times.mayShare('third', 'ann'), times.mayShare('third', 'bob')]).toEqual([false, true]);
});

it('one slow read among quick ones does not make a text slow', () => {
  const times = createTimes();
  for (let read = 0; read < 8; read++) times.add('text', `caller ${read}`, 1);
  times.add('text', 'ann', 60);
  expect(times.mayShare('text', 'bob')).toBe(true);
  times.add('text', 'eve', 60);
  expect(times.mayShare('text', 'bob')).toBe(false);
});

it('reads of a slow text are tried one at a time after its rest', () => {
  const times = createTimes();
  times.add('text', 'ann', 90);
  times.wait(1800);
  expect([times.mayShare('text', 'bob'), times.mayShare('text', 'eve')]).toEqual([true, false]);
  times.add('text', 'bob', 1);
  times.wait(20);
  expect([times.mayShare('text', 'eve'), times.mayShare('text', 'joe')]).toEqual([true, true]);
});

it('a read that was tried and has no time after a second is not waited for', () => {
  const times = createTimes();
  times.add('text', 'ann', 90);
  times.wait(1800);
  times.mayShare('text', 'bob');
  times.wait(1000);
  expect(times.mayShare('text', 'eve')).toBe(true);
});

it('a quick read shortens no rest', () => {
  const times = createTimes();
  times.add('slow', 'ann', 240);
  times.add('slow', 'ann', 1);
  times.wait(4700);
  expect(times.isResting('slow', 'bob')).toBe(true);
});
