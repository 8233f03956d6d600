// Builds the program of this checkout into a folder of `dist/programs/` if its sources have changed: it starts in half the processor time of the sources.
// Plain JavaScript for Node.js 18, because the shell may run it with the Node.js of the machine; the bundler runs on the Node.js of the checkout.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { builtProgram, builtPrograms } from './built-program.mjs';
import { ownNode } from './own-node.mjs';
import { checkout } from './setup-lock.mjs';

/** Number of builds that are kept. A service that runs may use one of the former. */
const KEPT = 5;

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) await buildProgram();

/** Builds the program unless that of the present sources exists. Processes that build it at once do not disturb each other. */
export async function buildProgram() {
  const folder = builtProgram();
  if (existsSync(folder)) return;
  mkdirSync(builtPrograms, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    const bundler = join(checkout, 'node_modules/rolldown/bin/cli.mjs');
    await promisify(execFile)(ownNode(), [bundler, '-c', 'rolldown.config.ts', '--dir', made], { cwd: checkout });
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    // Another process has built it in the meantime.
    if (!existsSync(folder)) throw new Error(`the program was not built: ${error.message}`);
  }
  removeFormer();
}

/** Removes all builds except for the newest. */
function removeFormer() {
  const builds = readdirSync(builtPrograms).map((name) => join(builtPrograms, name));
  const changedAt = new Map(builds.map((folder) => [folder, statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  const former = builds.sort((a, b) => changedAt.get(b) - changedAt.get(a)).slice(KEPT);
  for (const folder of former) rmSync(folder, { recursive: true, force: true });
}
