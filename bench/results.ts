import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { contestantVersions } from './contestants/install.ts';
import type { Figure, Results } from './measurement.ts';
import { type Options, toSettings } from './options.ts';
import { PLACE } from './place.ts';

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));

/** All that is kept, the oldest first. */
export function readResults(): readonly Results[] {
  mkdirSync(FOLDER, { recursive: true });
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8')) as Results);
}

/** What was measured, to be kept: how each measurement was run, and its figures. */
export interface Measured {
  readonly names: readonly string[];
  readonly options: Options;
  readonly figures: readonly Figure[];
}

/** Keeps figures under today's date; measurements of the same day that were not done again stay. Gives the file's path. */
export function keepResults({ names, options, figures }: Measured): string {
  const date = new Date().toISOString().slice(0, 10);
  const before = readResults().find((results) => results.date === date);
  const results: Results = {
    date,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: { ...before?.settings, ...Object.fromEntries(names.map((name) => [name, toSettings(options)])) },
    figures: [...(before?.figures ?? []).filter(({ measurement }) => !names.includes(measurement)), ...figures],
  };
  const path = `${FOLDER}${date}.json`;
  writeFileSync(path, `${JSON.stringify(results, undefined, 1)}\n`);
  return path;
}

function describeMachine(): Readonly<Record<string, string>> {
  return {
    processor: `${cpus()[0]?.model.trim()}, ${cpus().length} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${release()}`,
    cores: PLACE === undefined ? 'server and load on any' : `server on ${PLACE.server}, load on ${PLACE.load}`,
  };
}

function describeVersions(): Readonly<Record<string, string>> {
  return { node: process.version.slice(1), ...contestantVersions() };
}
