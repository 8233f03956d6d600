import { expect, it } from 'vitest';
import type { CliVerification } from './cli-context.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const whole: CliVerification = {
  entries: 12,
  chains: 2,
  notChained: 0,
  breaks: [],
  breakCount: 0,
  policies: { versions: 7, unproven: 0, provenUntil: 5, until: 5 },
  pruned: [],
  checkpoints: { lines: 3, until: '2026-01-01T00:00:00.000Z', restored: [] },
};
const broken: CliVerification = {
  ...whole,
  notChained: 4,
  breaks: [
    { kind: 'edited', writer: 'w', detail: 'entry 3 was' },
    { kind: 'checkpoint', detail: 'line 2 was' },
  ],
  breakCount: 1003,
  policies: { versions: 7, unproven: 2, until: 6 },
  checkpoints: { lines: 3, until: undefined, restored: ['2026-01-02T00:00:00.000Z'] },
};

it('a record as it was written is exit code 0', async () => {
  const run = createRun({ verification: whole });
  expect(await runCli(['decisions', 'verify'], run.context)).toBe(0);
  expect(run.out).toEqual([
    '7 versions of policies and assignments, proven by the audit log up to revision 5',
    '12 entries in 2 chains, 3 checkpoints, the last of 2026-01-01T00:00:00.000Z',
    'the record is as it was written',
  ]);
});

it('any break is exit code 1, and told', async () => {
  const run = createRun({ verification: broken });
  expect(await runCli(['decisions', 'verify', '--public-key', 'k.pem', '--checkpoints', 'c.ndjson'], run.context)).toBe(1);
  expect(run.out).toEqual([
    'edited: entry 3 was; chain w',
    'checkpoint: line 2 was',
    'and 1001 more',
    'a backup was restored at 2026-01-02T00:00:00.000Z: what was newer than it is gone',
    '4 entries are from before there were chains: of them nothing can be said',
    '2 versions of policies and assignments are from before they were hashed: nothing proves them',
    '7 versions of policies and assignments, no audit entry that is left holds their hash, so it proves nothing',
    '12 entries in 2 chains, 3 checkpoints',
    'the record is not as it was written: 1003 breaks',
  ]);
  expect(run.calls).toEqual(['verify by k.pem']);
  expect(run.made[0]?.checkpoints).toBe('c.ndjson');
});

it('what cannot be verified is exit code 2', async () => {
  const run = createRun();
  expect(await runCli(['decisions', 'verify'], run.context)).toBe(2);
  expect(run.err).toEqual(['bailiwick: there is no record']);
});

it('is printed as JSON where asked', async () => {
  const run = createRun({ verification: { ...whole, checkpoints: undefined } });
  expect(await runCli(['decisions', 'verify', '--json'], run.context)).toBe(0);
  expect(JSON.parse(run.out.join('\n'))).toMatchObject({ whole: true, entries: 12 });
});
