import { describe, expect, it } from 'vitest';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const TOGETHER = ['start', '--database', 'postgres://u:secret@h/d?schema=s', '--workers', '3'];

describe('start with workers', () => {
  it('prepares once, says once what there is to say, replaces workers on SIGUSR2 and ends with them', async () => {
    const run = createRun({ openSetup: async () => 'the-token', notices: ['tables made: Note'] });
    const exit = runCli(TOGETHER, run.context);
    await expect.poll(() => run.out.length).toBe(10);
    expect(run.out.slice(0, 7)).toEqual([
      'bailiwick listens on http://127.0.0.1:4242',
      '  project   .',
      '  database  postgres://u@h/d',
      '  workers   3',
      '  API page  http://127.0.0.1:4242/docs',
      'tables made: Note',
      'metrics are at http://127.0.0.1:9464/metrics',
    ]);
    run.signals.emit('SIGUSR2');
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.calls).toEqual(['primary 3', 'prepare', 'close', 'restart', 'close workers', 'kill workers']);
    expect(run.signals.listenerCount('SIGTERM') + run.signals.listenerCount('SIGUSR2')).toBe(0);
  });

  it('leaves no worker behind where it fails to start', async () => {
    const run = createRun();
    const primary = await run.context.createPrimary({ workers: 3 } as never);
    const context = { ...run.context, createPrimary: async () => ({ ...primary, start: () => Promise.reject(new Error('no')) }) };
    expect(await runCli(TOGETHER, context)).toBe(1);
    expect(run.calls.at(-1)).toBe('kill workers');
  });

  it('is refused where definition files are followed', async () => {
    const run = createRun();
    expect(await runCli(['dev', ...TOGETHER.slice(1)], run.context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: workers: expected 1 where definition files are followed as they change']);
  });
});

describe('a worker', () => {
  it.each([true, false])(
    'serves as anybody does, says nothing but that it is ready, and ends when it is told to (replaced: %s)',
    async (isReplaced) => {
      const ends: ((end: { isReplaced: boolean }) => void)[] = [];
      const told: string[] = [];
      const run = createRun({ close: async (how) => void told.push(`closed, replaced: ${how?.isReplaced}`) });
      const primary = {
        ready: (url: string) => void told.push(`ready at ${url}`),
        onEnd: (listener: (end: { isReplaced: boolean }) => void) => void ends.push(listener),
      };
      const exit = runCli(TOGETHER, { ...run.context, primary });
      await expect.poll(() => told).toEqual(['ready at http://127.0.0.1:4242']);
      // Sent to all processes of a terminal or a group; it is the primary's to act on.
      run.signals.emit('SIGUSR2');
      for (const end of ends) end({ isReplaced });
      expect(await exit).toBe(0);
      expect(told.at(-1)).toBe(`closed, replaced: ${isReplaced}`);
      expect([run.out, run.err, run.calls]).toEqual([[], [], []]);
    },
  );
});

describe('one process', () => {
  it('is not ended by SIGUSR2', async () => {
    const run = createRun();
    const exit = runCli(['start'], run.context);
    await expect.poll(() => run.out.length).toBe(4);
    run.signals.emit('SIGUSR2');
    expect(run.err).toEqual(['one process cannot be replaced while it serves; --workers makes several of it']);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
  });
});
