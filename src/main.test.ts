import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const main = new URL('./main.ts', import.meta.url).pathname;

/** Runs the program as a process of its own, on a Node that says it is of the given version. */
function runOn(version: string, args: readonly string[]): { readonly status: number | null; readonly out: string; readonly err: string } {
  const lie = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  const pretend = `data:text/javascript,${encodeURIComponent(lie)}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend, main, ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

describe('main', () => {
  it.each(['18.20.8', '20.20.2', '22.13.1'])('refuses Node %s in one sentence, before it imports anything', (version) => {
    const { status, out, err } = runOn(version, ['--version']);
    expect({ status, out, err }).toEqual({ status: 2, out: '', err: expect.stringMatching(`^bailiwick: .*${version}.*22\\.14.*\n$`) });
  });

  it.each(['22.14.0', '24.0.0'])('runs on Node %s', (version) => {
    const { status, out } = runOn(version, ['--version']);
    expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('returns exit code 2 for a wrong setting', () => {
    const { status, err } = runOn('24.0.0', ['start', '--port', 'x']);
    expect({ status, err }).toEqual({ status: 2, err: 'bailiwick: --port: expected a whole number from 0 to 65535, given "x"\n' });
  });
});
