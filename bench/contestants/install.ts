import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Folder of the lockfile, and folder of the installed packages, which tools that read the checkout ignore. */
const [PINNED, FOLDER] = ['.', '../../.bench/contestants/'].map((path) => fileURLToPath(new URL(path, import.meta.url))) as [
  string,
  string,
];
const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const STAMP = `${FOLDER}node_modules/.lock-as-installed`;

/** Installs the contestants in the versions of their lockfile, unless they are installed. Does not run their install scripts. */
export function installContestants(): void {
  const lock = readFileSync(`${PINNED}package-lock.json`, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const name of FILES) copyFileSync(`${PINNED}${name}`, `${FOLDER}${name}`);
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error(`expected npm ci to install the contestants in ${FOLDER}, given exit code ${status}`);
  writeFileSync(STAMP, lock);
}

/** Loads a contestant's package. The caller declares its types, because they are installed only with the package. */
export function loadContestant<T>(name: string): T {
  return createRequire(`${FOLDER}package.json`)(name) as T;
}

/** Returns the path of a file in a contestant's package, such as its program. */
export function contestantFile(path: string): string {
  return `${FOLDER}node_modules/${path}`;
}

/** Returns true if npm installed the file, and prints a line if it did not: programs are installed on Linux on x64 only. */
export function hasContestant(path: string): boolean {
  const isHere = existsSync(contestantFile(path));
  if (!isHere) process.stderr.write(`skipped, because npm does not install it on this system: ${path}\n`);
  return isHere;
}

/** Returns the pinned versions. */
export function contestantVersions(): Readonly<Record<string, string>> {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`${PINNED}package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return { ...dependencies, ...optionalDependencies };
}
