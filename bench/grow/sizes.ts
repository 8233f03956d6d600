import type { Call } from '../load.ts';
import type { Options } from '../options.ts';

/** A database of some size, and what is asked of it. */
export interface Grown {
  /** `10,000 records` */
  readonly name: string;
  readonly folder: string;
  readonly database: string;
  readonly calls: ReadonlyMap<string, Call>;
}

/** Something that grows. */
export interface Growing {
  readonly name: string;
  /** The smallest first: the others are compared with it. */
  sizes(options: Options): readonly number[];
  fill(folder: string, size: number): Promise<Grown>;
}

/** Powers of ten between two sizes. */
export function powersOfTen(from: number, to: number): readonly number[] {
  const sizes: number[] = [];
  for (let size = from; size <= Math.max(from, to); size *= 10) sizes.push(size);
  return sizes;
}
