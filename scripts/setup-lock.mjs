// The lock of the commands that write into the checkout before the program starts: the installation and the build of the console.
// Plain JavaScript for Node.js 18, like setup.mjs.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL('..', import.meta.url));
const lock = join(checkout, '.setup-lock');
let isHeld = false;

/** Waits for other commands, such as `npm start` beside `npm test`, and takes the lock. Only one process can create its folder. */
export async function takeLock(waitingFor) {
  let waiting = false;
  while (true) {
    try {
      mkdirSync(lock);
      isHeld = true;
      return writeFileSync(join(lock, 'pid'), String(process.pid));
    } catch (error) {
      if (error.code !== 'EEXIST') throw new Error(`cannot write ${checkout}: ${error.message}`);
    }
    if (!waiting) say(`waiting for ${waitingFor}…`);
    waiting = true;
    dropDeadLock();
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Releases the lock if this process holds it. */
export function releaseLock() {
  if (isHeld) rmSync(lock, { recursive: true, force: true });
}

/** Removes a lock whose process has ended. The lock is renamed first, so that only one of several waiting processes removes it. */
function dropDeadLock() {
  const aside = `${lock}-${process.pid}`;
  try {
    const pid = readText(join(lock, 'pid'));
    if (pid ? isAlive(Number(pid)) : Date.now() - statSync(lock).mtimeMs < 10_000) return;
    renameSync(lock, aside);
    if (readText(join(aside, 'pid')) === pid) rmSync(aside, { recursive: true });
    else renameSync(aside, lock);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Prints the progress until the returned function is called: on a terminal in one line that is overwritten, elsewhere a line every few seconds. */
export function showProgress(what, progress = () => '') {
  const from = Date.now();
  const isTerminal = process.stderr.isTTY === true;
  const print = () => {
    const line = [what, progress()].filter(Boolean).join(' ');
    const seconds = `${Math.round((Date.now() - from) / 1000)} s`;
    if (isTerminal) process.stderr.write(`\r\u001b[Kbailiwick: ${line}, ${seconds}`);
    else say(`${line}, ${seconds}`);
  };
  if (isTerminal) print();
  else say(what);
  const timer = setInterval(print, isTerminal ? 500 : 3000);
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\n');
  };
}

/** Returns the text of a file; undefined if there is none. */
export function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Prints a line on standard error, because the output of npm scripts may be read by programs. */
export function say(line) {
  process.stderr.write(`bailiwick: ${line}\n`);
}
