#!/usr/bin/env node
/**
 * The process. Nothing but this runs on an old Node: everything else is imported after the check, because the
 * database driver crashes there before it could say why.
 */
const NEEDED: readonly [number, number] = [22, 14];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(`bailiwick: expected Node ${NEEDED.join('.')} or newer, given ${process.versions.node}\n`);
  process.exit(2);
}

// Whoever reads along may stop doing so (`… | head -3`): that ends neither a command half way nor a service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreBrokenPipe);

const { readFileSync } = await import('node:fs');
const runCli = (await import('./cli/index.ts')).runCli;
const { version }: { readonly version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

// A worker has a channel to the process that forked it.
const lead = process.send === undefined ? undefined : (await import('./workers/index.ts')).connectToPrimary(process);

const exitCode = await runCli(process.argv.slice(2), {
  version,
  env: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  printError,
  signals: process,
  lead,
  createLead: async (settings) => (await import('./service.ts')).createPrimaryService(settings, { tell: printError }),
  createService: async (settings, options) =>
    (await import('./service.ts')).createService(settings, { tell: printError, lead, ...options }),
  openInput: async (path, stop) => (await import('./cli/command-files.ts')).openInput(path, stop),
  writeOutput: async (path, open, options) => (await import('./cli/command-files.ts')).writeOutput(path, open, options),
  readPassword: async () => (await import('./cli/password-prompt.ts')).readPassword({ input: process.stdin, output: process.stderr }),
  showProgress: process.stderr.isTTY ? showProgress : undefined,
  openTables: async (settings) => (await import('./project/index.ts')).openTables(settings, { tell: printError }),
  openBackups: async (settings) => (await import('./project/index.ts')).openBackups(settings),
  verifyDecisions: async (settings, options) => (await import('./project/index.ts')).verifyDecisions(settings, options),
  pruneDecisions: async (settings, options) => (await import('./project/index.ts')).pruneOldDecisions(settings, options),
});
process.exit(exitCode);

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function showProgress(line: string | undefined): void {
  process.stderr.write(line === undefined ? '\n' : `\r\u001b[K${line}`);
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
