import { expect, it } from 'vitest';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

it('decisions prune only counts old entries without --yes', async () => {
  const run = createRun();
  expect(await runCli(['decisions', 'prune', '--before', '2026-01-01'], run.context)).toBe(0);
  expect(run.out).toEqual([
    '3 entries of 2 chains, older than 2026-01-01, would be deleted; hourly counts are kept',
    'nothing was deleted; run again with --yes to delete',
  ]);
  expect(run.calls).toEqual(['prune 2026-01-01']);
});

it('decisions prune deletes old entries with --yes', async () => {
  const run = createRun();
  expect(await runCli(['decisions', 'prune', '--older-than', '90d', '--yes', '--decisions-kept', '60d'], run.context)).toBe(0);
  expect(run.out).toEqual(['3 entries of 2 chains, older than 2026-01-01, were deleted; hourly counts are kept']);
  expect(run.calls).toEqual(['prune 90d, sure']);
  expect(run.made[0]?.decisionsKept).toBe('60d');
});

it.each(['90', '0d', '1.5d', 'ever', '40000d'])('decisionsKept refuses %s', async (given) => {
  const run = createRun();
  expect(await runCli(['decisions', 'prune', '--decisions-kept', given], run.context)).toBe(2);
  expect(run.err).toEqual([`bailiwick: --decisions-kept: expected off, or days from 1d to 36500d such as 90d, given "${given}"`]);
});
