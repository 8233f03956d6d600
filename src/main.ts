#!/usr/bin/env node
/**
 * The entry of the process. It checks the version of Node before it imports anything, because the database driver crashes on an old
 * Node without a message.
 */
const MIN_NODE: readonly [number, number] = [22, 14];

/** Milliseconds for which the exit waits for the readers of the last lines. */
const LAST_LINES_MS = 1000;

/** The message of a command that is interrupted while it asks a question. */
const INTERRUPTED = 'the command was interrupted; nothing was created';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  process.stderr.write(
    `bailiwick: this is Node.js ${process.versions.node}, and Bailiwick needs ${MIN_NODE.join('.')} or newer: install it from https://nodejs.org\n`,
  );
  process.exit(2);
}

// Without a listener, SIGUSR2 ends a process, and `systemctl reload` can send it before the command listens to it. A service that starts then has
// nothing to replace.
process.on('SIGUSR2', () => undefined);

// Without a listener, a reader that closes the pipe (`… | head -3`) or a full disk would end a command or a service. The lines of a service are
// dropped, the output of a command keeps its error, and there is no other place to report an error of standard error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const { existsSync, readFileSync } = await import('node:fs');
const { fileURLToPath } = await import('node:url');
const runCli = (await import('./cli/index.ts')).runCli;
const { createOutput, drained } = await import('./cli/standard-output.ts');
const { PACKAGE_FOLDER } = await import('./package-folder.ts');
const { version }: { readonly version: string } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'));

// A worker has an IPC channel to the primary, which forked it.
const primary = process.send === undefined ? undefined : (await import('./workers/index.ts')).connectToPrimary(process);
const { print, failed, flush } = createOutput(process.stdout);
let envFile: Readonly<Record<string, string>> = {};

const exitCode = await runCli(process.argv.slice(2), {
  version,
  env: process.env,
  isCheckout: existsSync(new URL('src/main.ts', PACKAGE_FOLDER)),
  async readEnvFile(project) {
    // The file may have changed since the primary read it, and all workers need the same settings.
    envFile = primary?.envFile ?? (await import('./files/index.ts')).readEnvFile(project);
    return envFile;
  },
  askQuestions:
    process.stdin.isTTY && process.stdout.isTTY
      ? async (run) =>
          (await import('./cli/questions.ts')).askQuestions({ input: process.stdin, output: process.stdout, interrupted: INTERRUPTED }, run)
      : undefined,
  createProject: async (project) =>
    (await import('./project/index.ts')).createProject(project, {
      folder: fileURLToPath(new URL('templates', PACKAGE_FOLDER)),
      version,
    }),
  print,
  printError,
  outputFailed: failed,
  flushOutput: flush,
  signals: process,
  primary,
  createPrimary: async (config) => (await import('./service.ts')).createPrimaryService(config, { log: printError, envFile }),
  createService: async (config, options) =>
    (await import('./service.ts')).createService(config, { log: printError, primary, version, ...options }),
  openInput: async (path, stop) => (await import('./cli/command-files.ts')).openInput(path, stop),
  writeOutput: async (path, open, options) => (await import('./cli/command-files.ts')).writeOutput(path, open, options),
  readOutput: async (path) => (await import('./cli/command-files.ts')).readOutput(path),
  readPassword: async () => (await import('./cli/password-prompt.ts')).readPassword({ input: process.stdin, output: process.stderr }),
  showProgress: process.stderr.isTTY ? showProgress : undefined,
  openTables: async (config) => (await import('./project/index.ts')).openTables(config, { log: printError }),
  openBackups: async (config) => (await import('./project/index.ts')).openBackups(config),
  renderOpenApi: async (config) => (await import('./project-documents.ts')).renderProjectApi(config),
  loadStatus: async (config) => (await import('./project/index.ts')).loadProjectStatus(config, { log: printError }),
  openDecisions: async (config) => (await import('./audit-log-commands.ts')).openDecisions(config),
  verifyDecisions: async (config, options) => (await import('./project/index.ts')).verifyDecisions(config, options),
  verifyData: async (config, options) => (await import('./project/index.ts')).verifyData(config, options),
  resealData: async (config) => (await import('./project/index.ts')).resealData(config),
  renderTypes: async (config) => (await import('./project-documents.ts')).renderProjectTypes(config.project),
  readPolicies: async (config, options) => (await import('./policy-file-commands.ts')).readPolicies(config, options),
  openPolicyHistory: async (config) => (await import('./audit-log-commands.ts')).openPolicyHistory(config),
  lintPolicies: async (config) => (await import('./policy-file-commands.ts')).lintPolicies(config),
  checkProject: async (config) => (await import('./policy-file-commands.ts')).checkProject(config),
  testPolicies: async (config) => (await import('./policy-file-commands.ts')).testPolicies(config),
  pruneDecisions: async (config, options) => (await import('./project/index.ts')).pruneOldDecisions(config, options),
});
// Exiting would discard lines that wait for a slow reader. A service must exit even if nothing reads its output.
await Promise.all([process.stdout, process.stderr].map((stream) => drained(stream, LAST_LINES_MS)));
process.exit(exitCode);

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function showProgress(line: string | undefined): void {
  process.stderr.write(line === undefined ? '\n' : `\r\u001b[K${line}`);
}
