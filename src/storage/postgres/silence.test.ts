import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createIdleTimeout } from './connection.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('cuts off where nothing is answered for as long as is allowed, and not before', async () => {
  const cutOff = vi.fn();
  const silence = createIdleTimeout(cutOff);
  silence.set(100);
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const answers = [silence.watch(first.promise), silence.watch(second.promise)];
  await vi.advanceTimersByTimeAsync(90);
  first.resolve('heard');
  await vi.advanceTimersByTimeAsync(90);
  expect(cutOff).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20);
  expect(cutOff).toHaveBeenCalledOnce();
  second.resolve('late');
  expect(await Promise.all(answers)).toEqual(['heard', 'late']);
});

it('says nothing where nobody is asked, where answers fail, or where it may take as long as it takes', async () => {
  const cutOff = vi.fn();
  const silence = createIdleTimeout(cutOff);
  silence.set(100);
  await expect(silence.watch(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await vi.advanceTimersByTimeAsync(200);
  silence.set(undefined);
  void silence.watch(new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(200);
  expect(cutOff).not.toHaveBeenCalled();
});
