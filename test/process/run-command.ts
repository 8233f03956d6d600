import { Readable } from 'node:stream';
import { openDecisions, openPolicyHistory } from '../../src/audit-log-commands.ts';
import { openInput, writeOutput } from '../../src/cli/command-files.ts';
import { runCli } from '../../src/cli/index.ts';
import { readPassword } from '../../src/cli/password-prompt.ts';
import { createRun, type Run } from '../../src/cli/run.fixture.ts';
import { readPolicies } from '../../src/policy-file-commands.ts';
import { loadProjectStatus, openBackups, openTables, pruneOldDecisions, verifyDecisions } from '../../src/project/index.ts';
import { renderProjectApi } from '../../src/project-documents.ts';
import { createService } from '../../src/service.ts';
import type { Ended } from './program.ts';

/**
 * Runs a command in this process, with this text as its standard input, which takes a fraction of the CPU time of a process of its own. For
 * tests of what a command does, while other tests of the same command start the program.
 */
export async function runCommand(args: readonly string[], input = '', run: Run = createRun()): Promise<Ended> {
  const { context, out, err } = run;
  const log = context.printError;
  const code = await runCli(args, {
    ...context,
    createService: (config, options) => createService(config, { log, ...options }),
    openInput,
    writeOutput,
    readPassword: () => readPassword({ input: Readable.from([input]) as NodeJS.ReadStream, output: process.stderr }),
    openTables: (config) => openTables(config, { log }),
    openBackups: async (config) => openBackups(config),
    verifyDecisions,
    openDecisions,
    openPolicyHistory,
    readPolicies: async (config, options) => readPolicies(config, options),
    loadStatus: (config) => loadProjectStatus(config, { log }),
    renderOpenApi: renderProjectApi,
    pruneDecisions: pruneOldDecisions,
  });
  return { code, out: toText(out), err: toText(err) };
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
