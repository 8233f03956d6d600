import { describe, expect, it } from 'vitest';
import type { VerifiedDecisions } from '../project/index.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const verification: VerifiedDecisions = {
  ...{ entries: 3, chains: 1, notChained: 0, breaks: [], breakCount: 0, pruned: [] },
  policies: { versions: 0, unproven: 0 },
  checkpoints: undefined,
};

describe('verify', () => {
  it('verify prints the checks of the database, the damaged rows and the audit log, and exits with an error code', async () => {
    const run = createRun({ verification });
    expect(await runCli(['verify'], run.context)).toBe(1);
    expect(run.out).toEqual([
      'the file passed its checks',
      'row u1 of User is damaged',
      '7 policies, assignments, versions and users compared with their checksums, 1 damaged',
      expect.stringContaining('3 entries in 1 chain,'),
      'the audit log is intact',
      'the data are not intact',
    ]);
  });

  it('verify --json prints the result as JSON', async () => {
    const run = createRun({ verification });
    await runCli(['verify', '--json'], run.context);
    expect(JSON.parse(run.out.join('\n'))).toMatchObject({ isWhole: false, rows: { damagedCount: 1 }, decisions: { entries: 3 } });
  });

  it('verify --reseal names the rows that it accepted', async () => {
    const run = createRun();
    expect([await runCli(['verify', '--reseal'], run.context), run.out, run.calls]).toEqual([
      0,
      ['accepted: row u1 of User is damaged', '1 rows have new checksums'],
      ['reseal'],
    ]);
  });
});
