#!/usr/bin/env node
// What `bailiwick` starts. The published package holds dist/, a checkout runs src/ as it stands, on the Node that
// `npm run setup` put beside it. Plain old JavaScript: it has to run where nothing else here does.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);

if (!existsSync(source)) await import('../dist/main.js');
else if (process.features.typescript) await import(source.href);
else runWithOwnNode();

function runWithOwnNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write('bailiwick: this checkout is not set up yet; run "npm run setup" in it first\n');
    process.exit(2);
  }
  const child = spawn(node, ['--max-semi-space-size=16', fileURLToPath(source), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
