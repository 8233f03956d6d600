#!/usr/bin/env node
// What `bailiwick` and `npm start` run. The published package holds dist/, a checkout runs src/ as it stands, on the Node
// that `npm run setup` put beside it. Plain old JavaScript: it has to run where nothing else here does, and Node needs no
// compiler of TypeScript to begin with.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);

// Half of the time to start is compiling: kept from one start to the next, where this folder can be written. Not in the
// system's temporary folder, the default, where other users could lay code for us. An old Node has no such thing.
nodeModule.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/bailiwick', import.meta.url)));

if (!existsSync(source)) await import('../dist/main.js');
else if (process.features.typescript) await import(source.href);
else runWithOwnNode();

function runWithOwnNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write('bailiwick: this checkout is not set up yet; run "npm run setup" in it first\n');
    process.exit(2);
  }
  const child = spawn(node, ['--max-semi-space-size=16', fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
