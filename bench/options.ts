import { parseArgs } from 'node:util';

/** The options. The flag of an option is its name in kebab case, such as `--large 0`. */
export interface Options {
  /** Number of rounds; each contestant has one turn in each round. */
  readonly rounds: number;
  /** Length of one turn of a contestant. */
  readonly seconds: number;
  /** Length of the warm-up before the first round, for each contestant and case. */
  readonly warmSeconds: number;
  readonly connections: readonly number[];
  /** Records in the table that lists are read from; the caller owns 200 of them. */
  readonly records: number;
  /** Records in the large table; 0 leaves it out. */
  readonly large: number;
  /** The largest size that `grow` measures: records, policies and entries. A power of ten. */
  readonly growRecords: number;
  readonly growPolicies: number;
  readonly growEntries: number;
  /** The largest number of memberships that `relations` measures. */
  readonly relationsMemberships: number;
  /** Policies in Cerbos and in Bailiwick for decisions over HTTP. */
  readonly policies: number;
  /** Entries that one turn of `record` appends. */
  readonly entries: number;
  /** Length of the load in `memory`. */
  readonly memorySeconds: number;
  /** Records, policies and audit entries in the database of `isolation`. */
  readonly isolationRecords: number;
  readonly isolationPolicies: number;
  readonly isolationEntries: number;
  /** Audit entries that `console` scrolls through. */
  readonly consoleEntries: number;
  /** The commit whose program `compare` measures beside this checkout, with its uncommitted changes. */
  readonly against: string;
  /** Selects the contestants and cases whose names contain one of these texts; all if empty. Partial results are not stored. */
  readonly only: readonly string[];
}

const DEFAULTS: Options = {
  rounds: 5,
  seconds: 5,
  warmSeconds: 3,
  connections: [10, 64],
  records: 10_000,
  large: 1_000_000,
  growRecords: 1_000_000,
  growPolicies: 100_000,
  growEntries: 10_000_000,
  relationsMemberships: 1_000_000,
  policies: 2000,
  entries: 20_000,
  memorySeconds: 300,
  isolationRecords: 1_000_000,
  isolationPolicies: 10_000,
  isolationEntries: 1_000_000,
  consoleEntries: 100_000,
  against: 'HEAD',
  only: [],
};

/** The parsed command line: names of measurements, and options. */
export interface CommandLine {
  readonly names: readonly string[];
  readonly options: Options;
}

/** Parses the command line. @throws Error that names the wrong option. */
export function parseOptions(args: readonly string[]): CommandLine {
  const keys = Object.keys(DEFAULTS) as (keyof Options)[];
  const options = Object.fromEntries(keys.map((key) => [toFlag(key), { type: 'string' as const }]));
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const given = keys.flatMap((key) => {
    const text = values[toFlag(key)];
    return typeof text === 'string' ? [[key, parseValue(key, text)] as const] : [];
  });
  return { names: positionals, options: { ...DEFAULTS, ...Object.fromEntries(given) } };
}

/** Returns options as text for the results, so that a reader can repeat the measurement. */
export function toSettings(options: Options, keys: readonly (keyof Options)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [toFlag(key), String(options[key])]));
}

/** Returns the items that `only` selects, by name or by part of a name; all items if it selects none. */
export function pick<T extends string | { readonly name: string }>({ only }: Options, all: readonly T[]): readonly T[] {
  const nameOf = (each: T): string => (typeof each === 'string' ? each : each.name);
  const isNamed = new Set(only.filter((part) => all.some((each) => nameOf(each) === part)));
  const picked = all.filter((each) => only.some((part) => (isNamed.has(part) ? nameOf(each) === part : nameOf(each).includes(part))));
  return picked.length === 0 ? all : picked;
}

function parseValue(key: keyof Options, text: string): number | string | readonly (number | string)[] {
  if (key === 'against') return text;
  const parts = text.split(',').filter((part) => part !== '');
  if (key === 'only') return parts;
  const numbers = parts.map(Number);
  if (numbers.length === 0 || numbers.some((number) => !(number >= 0)))
    throw new Error(`expected a number for --${toFlag(key)}, given "${text}"`);
  return key === 'connections' ? numbers : (numbers[0] ?? 0);
}

function toFlag(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
