import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What is pinned, and where it goes: away from everything that reads the checkout's sources. */
const [PINNED, FOLDER] = ['.', '../../.bench/contestants/'].map((path) => fileURLToPath(new URL(path, import.meta.url))) as [
  string,
  string,
];
const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const STAMP = `${FOLDER}node_modules/.lock-as-installed`;

/** Installs the contestants as their lockfile pins them, where that has not been done; none of them runs a script of its own. */
export function installContestants(): void {
  const lock = readFileSync(`${PINNED}package-lock.json`, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const name of FILES) copyFileSync(`${PINNED}${name}`, `${FOLDER}${name}`);
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error(`expected npm ci to install the contestants in ${FOLDER}, given exit code ${status}`);
  writeFileSync(STAMP, lock);
}

/** Loads a contestant's package; what is used of it is said by whoever uses it, because types are installed only with it. */
export function loadContestant<T>(name: string): T {
  return createRequire(`${FOLDER}package.json`)(name) as T;
}

/** A file that a contestant's package brings, such as its program. */
export function contestantFile(path: string): string {
  return `${FOLDER}node_modules/${path}`;
}

/** Whether npm brought it: programs come for Linux on x64 only. Says so where it did not. */
export function hasContestant(path: string): boolean {
  const isHere = existsSync(contestantFile(path));
  if (!isHere) process.stderr.write(`left out, because npm brings it for other machines only: ${path}\n`);
  return isHere;
}

/** The versions that are pinned. */
export function contestantVersions(): Readonly<Record<string, string>> {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`${PINNED}package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return { ...dependencies, ...optionalDependencies };
}
