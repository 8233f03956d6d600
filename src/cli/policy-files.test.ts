import { describe, expect, it } from 'vitest';
import type { CliQuestions } from './cli-context.ts';
import { runCli } from './program.ts';
import { createRun, FINDING } from './run.fixture.ts';

async function run(args: readonly string[], ask?: CliQuestions['ask']) {
  const { context, out, err, calls } = createRun();
  return { exitCode: await runCli(args, { ...context, ...(ask && { askQuestions: (questions) => questions({ ask }) }) }), out, err, calls };
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

  it('policies test refuses to write the XML and the JSON to standard output', async () => {
    const { exitCode, err, calls } = await run(['policies', 'test', '--junit', '-', '--json']);
    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
    expect(err).toEqual([expect.stringContaining('--junit - or --json')]);
  });

  it('policies lint returns 1 if there is a warning', async () => {
    expect(await run(['policies', 'lint'])).toMatchObject({ exitCode: 1, out: ['policies/a.yaml:1:1 empty'] });
    expect(JSON.parse((await run(['policies', 'lint', '--json'])).out.join('\n'))).toMatchObject([{ level: 'warning', code: 'empty' }]);
    const { context, out } = createRun();
    const lintPolicies = async () => ({ findings: [{ ...FINDING, level: 'info' as const }], lines: ['policies/a.yaml:1:1 not-listed'] });
    expect([await runCli(['policies', 'lint'], { ...context, lintPolicies }), out]).toEqual([0, ['policies/a.yaml:1:1 not-listed']]);
  });

  it('returns 1 from check if a test fails', async () => {
    expect(await run(['check'])).toMatchObject({ exitCode: 1, out: ['1 failed'] });
  });

  it('policies apply applies the policies of the folder as an admin', async () => {
    const { exitCode, calls } = await run(['policies', 'apply', '--as', 'ada@example.org', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(calls).toEqual(['readPolicies', 'apply policies as ada@example.org: keep, dry run true', 'close']);
  });

  it('policies apply --prune asks before it deletes, and deletes nothing else', async () => {
    const question = ['policies', 'apply', '--as', 'a', '--prune'];
    expect(await run(question)).toMatchObject({ exitCode: 2, err: [expect.stringContaining('--yes'), expect.stringContaining('"Old"')] });
    const refused = await run(question, async () => 'no');
    expect([refused.exitCode, refused.calls]).toEqual([1, ['readPolicies', 'apply policies as a: delete, dry run true', 'close']]);
    const agreed = await run(question, async () => 'yes');
    expect([agreed.exitCode, agreed.calls.slice(1, 3)]).toEqual([
      0,
      ['apply policies as a: delete, dry run true', 'apply policies as a: delete, dry run false, deletable p1'],
    ]);
    expect((await run([...question, '--yes'])).calls[1]).toBe('apply policies as a: delete, dry run false');
    expect((await run([...question, '--release'])).exitCode).toBe(2);
  });

  it('policies rollback of a policy that a file manages prints the differences and returns 1', async () => {
    const { exitCode, out, err } = await run(['policies', 'rollback', 'A', '--to', '3', '--as', 'a', '--reason', 'wrong']);
    expect([exitCode, out]).toEqual([1, ['less', 'nothing was changed']]);
    expect(err.join()).toContain('policies/a.yaml');
  });

  it('policies apply requires the email of an admin', async () => {
    expect(await run(['policies', 'apply'])).toMatchObject({ exitCode: 2, err: [expect.stringContaining('--as')] });
  });
});
