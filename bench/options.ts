import { parseArgs } from 'node:util';

/** Everything that can be set; each number by a flag of its name in kebab case, such as `--large 0`. */
export interface Options {
  /** In which every contestant has its turn once. */
  readonly rounds: number;
  /** Of one turn of one contestant. */
  readonly seconds: number;
  /** Before the first round, for each contestant and case. */
  readonly warmSeconds: number;
  readonly connections: readonly number[];
  /** In the table that lists are read from; the caller owns 200 of them. */
  readonly records: number;
  /** In the large table; 0 leaves it out. */
  readonly large: number;
  /** The largest power of ten that `grow` goes to, in records, policies and entries. */
  readonly growRecords: number;
  readonly growPolicies: number;
  readonly growEntries: number;
  /** Policies that Cerbos and ourselves hold while they are asked over HTTP. */
  readonly policies: number;
  /** Appended per turn of `record`. */
  readonly entries: number;
  /** For which `memory` loads the service. */
  readonly memorySeconds: number;
  /** Contestants and cases whose names contain one of these; all where empty. What is measured in part is not kept. */
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
  policies: 2000,
  entries: 20_000,
  memorySeconds: 300,
  only: [],
};

/** What was asked for: names of measurements, and options. */
export interface Asked {
  readonly names: readonly string[];
  readonly options: Options;
}

/** Reads the command line. @throws Error that says what there is. */
export function readOptions(args: readonly string[]): Asked {
  const keys = Object.keys(DEFAULTS) as (keyof Options)[];
  const options = Object.fromEntries(keys.map((key) => [toFlag(key), { type: 'string' as const }]));
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const given = keys.flatMap((key) => {
    const text = values[toFlag(key)];
    return typeof text === 'string' ? [[key, readValue(key, text)] as const] : [];
  });
  return { names: positionals, options: { ...DEFAULTS, ...Object.fromEntries(given) } };
}

/** These options as results tell of them: what a reader needs to do the same. */
export function toSettings(options: Options, keys: readonly (keyof Options)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key) => [toFlag(key), String(options[key])]));
}

/** Those that were asked for, by name or by part of a name; all where `only` names none of these. */
export function pick<T extends string | { readonly name: string }>({ only }: Options, all: readonly T[]): readonly T[] {
  const nameOf = (each: T): string => (typeof each === 'string' ? each : each.name);
  const isNamed = new Set(only.filter((part) => all.some((each) => nameOf(each) === part)));
  const picked = all.filter((each) => only.some((part) => (isNamed.has(part) ? nameOf(each) === part : nameOf(each).includes(part))));
  return picked.length === 0 ? all : picked;
}

function readValue(key: keyof Options, text: string): number | readonly (number | string)[] {
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
