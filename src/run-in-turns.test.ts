import { expect, it } from 'vitest';
import { runInTurns } from './run-in-turns.ts';

it('runs other work between two steps', async () => {
  const order: string[] = [];
  function* work(): Generator<void, string> {
    setImmediate(() => order.push('other work'));
    order.push('first step');
    yield;
    order.push('second step');
    return 'result';
  }
  expect([await runInTurns(work()), order]).toEqual(['result', ['first step', 'other work', 'second step']]);
});
