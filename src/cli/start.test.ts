import { describe, expect, it } from 'vitest';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const REFUSED = 'Note was not migrated';
const WITH_WORKERS = ['start', '--database', 'postgres://u:secret@h/d?schema=s', '--workers', '3'];

describe('start with workers', () => {
  it('start prepares and prints once, replaces workers on SIGUSR2 and ends after them', async () => {
    const run = createRun({ openSetup: async () => 'the-token', notices: ['created tables: Note', REFUSED] });
    const exit = runCli(WITH_WORKERS, run.context);
    await expect.poll(() => run.out.length).toBe(14);
    expect(run.out.slice(0, 9)).toEqual([
      'bailiwick listens on http://127.0.0.1:4242',
      '  console   http://127.0.0.1:4242/console/',
      '  project   .',
      '  database  postgres://u@h/d',
      '  workers   3',
      '  API page  http://127.0.0.1:4242/docs',
      'created tables: Note',
      REFUSED,
      'metrics are at http://127.0.0.1:9464/metrics',
    ]);
    run.signals.emit('SIGUSR2');
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.calls).toEqual(['primary with 3', 'prepare', 'close', 'restart', 'close workers', 'kill workers']);
    expect(run.signals.listenerCount('SIGTERM') + run.signals.listenerCount('SIGUSR2')).toBe(0);
  });

  it('leaves no worker behind if the start fails', async () => {
    const run = createRun();
    const primary = await run.context.createPrimary({ workers: 3 } as never);
    const context = { ...run.context, createPrimary: async () => ({ ...primary, start: () => Promise.reject(new Error('no')) }) };
    expect(await runCli(WITH_WORKERS, context)).toBe(1);
    expect(run.calls.at(-1)).toBe('kill workers');
  });

  it('dev refuses to start workers', async () => {
    const run = createRun();
    expect(await runCli(['dev', ...WITH_WORKERS.slice(1)], run.context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: workers: expected 1 with bailiwick dev; use bailiwick start for more']);
  });
});

describe('a worker', () => {
  it.each([true, false])(
    'a worker serves, reports only its notices and that it is ready, and ends when the primary ends it (replaced: %s)',
    async (isReplaced) => {
      const ends: ((end: { isReplaced: boolean }) => void)[] = [];
      const events: string[] = [];
      const run = createRun({
        notices: ['created tables: Note'],
        close: async (how) => void events.push(`closed, replaced: ${how?.isReplaced}`),
      });
      const primary = {
        ready: (url: string, notices: readonly string[]) => void events.push(`ready at ${url}: ${notices}`),
        onEnd: (listener: (end: { isReplaced: boolean }) => void) => void ends.push(listener),
      };
      const exit = runCli(WITH_WORKERS, { ...run.context, primary });
      await expect.poll(() => events).toEqual(['ready at http://127.0.0.1:4242: created tables: Note']);
      // A process group receives it as a whole; only the primary acts on it.
      run.signals.emit('SIGUSR2');
      for (const end of ends) end({ isReplaced });
      expect(await exit).toBe(0);
      expect(events.at(-1)).toBe(`closed, replaced: ${isReplaced}`);
      expect([run.out, run.err, run.calls]).toEqual([[], [], []]);
    },
  );
});

describe('an option that cannot be parsed', () => {
  it.each([
    [['--timezone', 'Europe/Berln'], {}, '--timezone: expected an IANA time zone, given "Europe/Berln" (did you mean "Europe/Berlin"?)'],
    [['--database', 'mysql://me:hunter2@db/x'], {}, '--database: expected sqlite:<path> or postgres://user:password@host:5432/database'],
    [['--nope', '1'], {}, expect.stringMatching(/^unknown option '--nope'[^\n]*$/)],
    [[], { BAILIWICK_JWT_SECRET: 'short' }, 'BAILIWICK_JWT_SECRET: expected at least 32 bytes, given 5'],
  ])('a start reports an option that cannot be parsed in one sentence, with exit code 2: %j %j', async (args, env, sentence) => {
    const run = createRun({}, env as Record<string, string>);
    expect(await runCli(['start', ...args], run.context)).toBe(2);
    expect(run.err.map((line) => line.replace(/^bailiwick: /, ''))).toEqual([sentence]);
    expect([run.out, run.made]).toEqual([[], []]);
  });
});

describe('a single process', () => {
  it('a single process ignores SIGUSR2', async () => {
    const run = createRun();
    const exit = runCli(['start'], run.context);
    await expect.poll(() => run.out.length).toBe(5);
    run.signals.emit('SIGUSR2');
    expect(run.err).toEqual(['SIGUSR2 was ignored: a single process cannot be replaced; start with --workers 2 or more']);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
  });
});
