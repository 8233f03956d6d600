import { describe, expect, it } from 'vitest';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

async function run(args: readonly string[]) {
  const { context, out, err, calls } = createRun();
  return { exitCode: await runCli(args, context), out, err, calls };
}

describe('the commands of policies in files', () => {
  it('policies test prints the results and returns 0 if all tests pass', async () => {
    expect(await run(['policies', 'test'])).toMatchObject({ exitCode: 0, out: ['2 passed'], calls: ['testPolicies'] });
  });

  it('policies test writes JUnit XML to a file, and prints JSON', async () => {
    const { out, calls } = await run(['policies', 'test', '--junit', 'results.xml', '--json']);
    expect(calls).toEqual(['testPolicies', 'write results.xml: <testsuites/>']);
    expect(JSON.parse(out.join('\n'))).toEqual({ cases: 2 });
  });

  it('policies test prints nothing but the XML if it is written to standard output', async () => {
    expect((await run(['policies', 'test', '--junit', '-'])).out).toEqual([]);
  });

  it('policies lint returns 1 if there is a finding', async () => {
    expect(await run(['policies', 'lint'])).toMatchObject({ exitCode: 1, out: ['policies/a.yaml:1:1 empty'] });
    expect(JSON.parse((await run(['policies', 'lint', '--json'])).out.join('\n'))).toEqual([{ code: 'empty' }]);
  });

  it('returns 1 from check if a test fails', async () => {
    expect(await run(['check'])).toMatchObject({ exitCode: 1, out: ['1 failed'] });
  });

  it('policies apply imports the policies of the folder as an admin', async () => {
    const { exitCode, calls } = await run(['policies', 'apply', '--as', 'ada@example.org', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(calls).toEqual(['readPolicies', 'import policies as ada@example.org: application/json, dry run true', 'close']);
  });

  it('policies apply requires the email of an admin', async () => {
    expect(await run(['policies', 'apply'])).toMatchObject({ exitCode: 2, err: [expect.stringContaining('--as')] });
  });
});
