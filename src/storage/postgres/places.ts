import { randomInt } from 'node:crypto';

/** Rows that many transactions count in are split in so many. */
export const LANES = 32;

/** Places of the connections of one process: of two at the same time, never the same. */
export interface Places {
  /** The first that is free. */
  take(): number;
  give(place: number): void;
}

/**
 * Makes them. Few are ever taken, whatever connections come and go: rows that are counted in are split by them, and each is one more to be
 * added up. Where they begin is up to chance, so that several processes rarely begin with the same.
 */
export function createPlaces(): Places {
  const taken = new Set<number>();
  const first = randomInt(LANES);

  return {
    take() {
      let place = first;
      while (taken.has(place)) place++;
      taken.add(place);
      return place;
    },
    give: (place) => void taken.delete(place),
  };
}
