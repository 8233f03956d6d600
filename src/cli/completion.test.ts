import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { COMMANDS, runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

async function scriptOf(shell: string): Promise<string> {
  const { context, out } = createRun();
  expect(await runCli(['completion', shell], context)).toBe(0);
  return out.join('\n');
}

/** Returns the words that bash offers for a command line whose last word is incomplete. */
function complete(script: string, line: string): readonly string[] {
  const words = line.split(' ');
  const program = `${script}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _bailiwick; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

it('bash completes commands, subcommands and flags', async () => {
  const script = await scriptOf('bash');
  expect(complete(script, 'bailiwick st')).toEqual(['start', 'storage', 'status']);
  expect(complete(script, 'bailiwick policies l')).toEqual(['lint']);
  expect(complete(script, 'bailiwick decisions tail --la')).toEqual(['--last']);
  expect(complete(script, 'bailiwick export Article --fo')).toEqual(['--format', '--force']);
  expect(complete(script, 'bailiwick start --por')).toEqual(['--port']);
});

it('every command is in every script', async () => {
  const names = [...COMMANDS.keys()].map((name) => name.split(' ').at(-1) ?? '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptOf(shell);
    expect(names.filter((name) => !script.includes(name))).toEqual([]);
  }
});

it('another shell is refused', async () => {
  const { context, err } = createRun();
  expect(await runCli(['completion', 'powershell'], context)).toBe(2);
  expect(err[0]).toContain('bash, zsh or fish');
});
