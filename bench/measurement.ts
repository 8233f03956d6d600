import type { Options } from './options.ts';

/** What one contestant came to in one case: the unit of everything that is measured, kept and shown. */
export interface Figure {
  readonly measurement: string;
  /** What was done: `read by id`. */
  readonly case: string;
  /** Under what: `64 connections`. Only figures of one case and setting are compared. */
  readonly setting: string;
  readonly contestant: string;
  /** `requests/s`, `µs`, `MB`. */
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** One for each round, in the order in which contestants took turns: the nth of all of them belong together. */
  readonly rounds: readonly number[];
  /** What else was seen, such as `p99 ms`; medians of the rounds. */
  readonly beside?: Readonly<Record<string, number>>;
}

/** Something that `npm run bench` measures. */
export interface Measurement {
  readonly name: string;
  /** A sentence for the page of results. */
  readonly about: string;
  /** The options that it goes by. */
  readonly goesBy: readonly (keyof Options)[];
  /** Starts everything it needs, stops it, and hands over each figure as soon as it is known. */
  run(options: Options, tell: Tell): Promise<void>;
}

/** Takes a figure: prints and keeps it. */
export type Tell = (figure: Figure) => void;

/** What was measured on one day on one machine. */
export interface Results {
  readonly date: string;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** Of each measurement, as it was run. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly figures: readonly Figure[];
}
