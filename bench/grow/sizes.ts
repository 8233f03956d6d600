import type { Call } from '../load.ts';
import type { Options } from '../options.ts';

/** A database of one size, and the requests to measure. */
export interface Grown {
  /** `10,000 records` */
  readonly name: string;
  readonly folder: string;
  readonly database: string;
  readonly calls: ReadonlyMap<string, Call>;
}

/** A dimension in which the database grows. */
export interface Growing {
  readonly name: string;
  /** Sizes in ascending order; the others are compared with the first. */
  sizes(options: Options): readonly number[];
  fill(folder: string, size: number): Promise<Grown>;
}

/** Returns the sizes from one to another, each ten times the one before. */
export function powersOfTen(from: number, to: number): readonly number[] {
  const sizes: number[] = [];
  for (let size = from; size <= Math.max(from, to); size *= 10) sizes.push(size);
  return sizes;
}
