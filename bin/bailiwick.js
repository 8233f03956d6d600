#!/usr/bin/env node
// The command `bailiwick`. The published package runs dist/. A checkout runs the program that was built from its present sources, or else
// src/ directly, on the Node.js that `npm run setup` installed. Plain JavaScript, so that it also runs on a Node.js that is too old for the rest.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);

// Compiling takes half of the start, so compiled code is cached if this folder can be written. The default folder of Node.js is in
// the temporary folder of the system, where other users could place code. Older versions of Node.js have no cache.
nodeModule.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/bailiwick', import.meta.url)));

if (!existsSync(source)) await import('../dist/main.js');
else if (process.features.typescript) await import(await findProgram());
else runWithOwnNode();

/** Returns the address of the program of this checkout. */
async function findProgram() {
  const { builtProgram } = await import('../scripts/built-program.mjs');
  const main = join(builtProgram(), 'main.js');
  return existsSync(main) ? pathToFileURL(main).href : source.href;
}

function runWithOwnNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write('bailiwick: this checkout is not set up yet; run "npm run setup" in it first\n');
    process.exit(2);
  }
  const options = ['--max-semi-space-size=8', '--v8-pool-size=1'];
  const child = spawn(node, [...options, fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
