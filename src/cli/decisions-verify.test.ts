import { expect, it } from 'vitest';
import type { VerifiedDecisions } from '../project/index.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const whole: VerifiedDecisions = {
  entries: 12,
  chains: 2,
  notChained: 0,
  breaks: [],
  breakCount: 0,
  policies: { versions: 7, unproven: 0, provenUntil: 5, until: 5 },
  pruned: [],
  checkpoints: { lines: 3, until: '2026-01-01T00:00:00.000Z', restored: [] },
};
const broken: VerifiedDecisions = {
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

it('an intact audit log returns exit code 0', async () => {
  const run = createRun({ verification: whole });
  expect(await runCli(['decisions', 'verify'], run.context)).toBe(0);
  expect(run.out).toEqual([
    '7 versions of policies and assignments, verified by the audit log up to revision 5',
    '12 entries in 2 chains, 3 checkpoints, the last of 2026-01-01T00:00:00.000Z',
    'the audit log is intact',
  ]);
});

it('a break returns exit code 1 and is printed', async () => {
  const run = createRun({ verification: broken });
  expect(await runCli(['decisions', 'verify', '--public-key', 'k.pem', '--checkpoints', 'c.ndjson'], run.context)).toBe(1);
  expect(run.out).toEqual([
    'edited: entry 3 was; chain w',
    'checkpoint: line 2 was',
    'and 1001 more',
    'a backup was restored at 2026-01-02T00:00:00.000Z; newer entries were lost',
    '4 entries have no hash, because an earlier version wrote them; they cannot be verified',
    '2 versions of policies and assignments have no hash, because an earlier version wrote them; they cannot be verified',
    '7 versions of policies and assignments, not verified: no remaining audit entry contains their hash',
    '12 entries in 2 chains, 3 checkpoints',
    'the audit log is not intact: 1003 breaks',
  ]);
  expect(run.calls).toEqual(['verify by k.pem']);
  expect(run.made[0]?.checkpoints).toBe('c.ndjson');
});

it('an audit log that cannot be verified returns exit code 2', async () => {
  const run = createRun();
  expect(await runCli(['decisions', 'verify'], run.context)).toBe(2);
  expect(run.err).toEqual(['bailiwick: there is no audit log']);
});

it('the result is printed as JSON with --json', async () => {
  const run = createRun({ verification: { ...whole, checkpoints: undefined } });
  expect(await runCli(['decisions', 'verify', '--json'], run.context)).toBe(0);
  expect(JSON.parse(run.out.join('\n'))).toMatchObject({ whole: true, entries: 12 });
});
