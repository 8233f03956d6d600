import type { Options } from './options.ts';

/** The result of one contestant in one case. Every measurement stores and prints figures. */
export interface Figure {
  readonly measurement: string;
  /** The operation: `read by id`. */
  readonly case: string;
  /** The conditions: `64 connections`. Only figures of the same case and setting are compared. */
  readonly setting: string;
  readonly contestant: string;
  /** `requests/s`, `µs`, `MB`. */
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** One value for each round. The nth values of all contestants were measured one after the other. */
  readonly rounds: readonly number[];
  /** Other values, such as `p99 ms`; medians of the rounds. */
  readonly beside?: Readonly<Record<string, number>>;
}

/** A measurement of `npm run bench`. */
export interface Measurement {
  readonly name: string;
  /** Text for the page of results. */
  readonly description: string;
  /** The options that the measurement uses. */
  readonly optionNames: readonly (keyof Options)[];
  /** Starts and stops everything that it needs, and passes on each figure as soon as it is known. */
  run(options: Options, onFigure: OnFigure): Promise<void>;
}

/** Receives a figure, to print and store it. */
export type OnFigure = (figure: Figure) => void;

/** The results of one day on one machine. */
export interface Results {
  readonly date: string;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** The options of each measurement. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly figures: readonly Figure[];
}
