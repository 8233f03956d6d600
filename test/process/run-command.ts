import { openInput, writeOutput } from '../../src/cli/command-files.ts';
import { runCli } from '../../src/cli/index.ts';
import { createRun } from '../../src/cli/run.fixture.ts';
import { createService } from '../../src/service.ts';
import type { Ended } from './program.ts';

/**
 * Runs a command that uses a service or files in this process, which takes a fraction of the CPU time of a process of its own. For tests of
 * what a command does, while other tests of the same command start the program.
 */
export async function runCommand(args: readonly string[]): Promise<Ended> {
  const { context, out, err } = createRun();
  const code = await runCli(args, { ...context, createService: (config) => createService(config), openInput, writeOutput });
  return { code, out: toText(out), err: toText(err) };
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
