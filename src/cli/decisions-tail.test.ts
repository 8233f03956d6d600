import { expect, it, vi } from 'vitest';
import type { ProjectDecisions } from '../audit-log-commands.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const NOTHING = { entries: [], position: { after: undefined } as unknown as Awaited<ReturnType<ProjectDecisions['last']>>['position'] };

/** Creates an audit log without entries, which calls `onPoll` with the number of polls. */
function createLog(onPoll: (polls: number) => void): ProjectDecisions {
  let polls = 0;
  return {
    select: async () => ({}),
    labels: async () => [],
    last: async () => NOTHING,
    async after() {
      onPoll(++polls);
      return NOTHING;
    },
    close: async () => undefined,
  } as unknown as ProjectDecisions;
}

it('keeps no listener of a poll while it follows the audit log', async () => {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
  const run = createRun();
  const log = createLog((polls) => {
    expect(added.mock.calls.length - removed.mock.calls.length).toBe(0);
    if (polls === 3) run.signals.emit('SIGINT');
  });
  expect(await runCli(['decisions', 'tail'], { ...run.context, openDecisions: async () => log })).toBe(0);
  expect(run.err).toEqual(['no entry matches']);
  expect(added).toHaveBeenCalled();
});

it('ends when its output fails', async () => {
  const failed = new AbortController();
  const log = createLog((polls) => {
    if (polls === 2) failed.abort();
  });
  const { context } = createRun();
  expect(await runCli(['decisions', 'tail'], { ...context, outputFailed: failed.signal, openDecisions: async () => log })).toBe(0);
});
