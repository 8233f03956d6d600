import type { Figure, Results } from './measurement.ts';
import { advantageOf, toGroups } from './report.ts';
import { median } from './statistics.ts';

/** A ratio or a count: the new value and the stored one. */
export interface Comparison {
  /** `http, create, 64 connections: bailiwick against by hand` */
  readonly name: string;
  readonly now: number;
  /** Undefined if no stored results have the value. */
  readonly before: number | undefined;
  /** True for a count, where less is better. */
  readonly counted?: true;
}

/** Share of a ratio that may be lost. The ratios of a busy machine differ by less. */
const ALLOWED = 0.3;
/** Share by which a count may grow. Counts differ by less than a hundredth between machines. */
const ALLOWED_MORE = 0.1;

/**
 * Compares ratios with the last stored ones. Figures are not compared, because machines differ. Of servers, the processor time of a request
 * is compared instead of the rate: the ratio of two rates depends on the other load of the machine, and on its disk.
 */
export function compareRatios(measured: readonly Figure[], kept: readonly Results[]): readonly Comparison[] {
  const known = new Map(kept.flatMap(({ figures }) => toRatios(figures.flatMap(toComparable))));
  const now = measured.flatMap(toComparable);
  return toRatios(now).map(([name, ratio]) => ({ name, now: ratio, before: known.get(name) }));
}

/** Returns the name and the ratio of each case: the first contestant against each other one of the same run. Below 1, the first one is worse. */
export function compareContestants(measured: readonly Figure[]): readonly (readonly [name: string, ratio: number])[] {
  return toRatios(measured.flatMap(toComparable));
}

/** Compares counts with the last stored ones. */
export function compareCounts(now: readonly Figure[], kept: readonly Results[]): readonly Comparison[] {
  const known = new Map(kept.flatMap(({ figures }) => figures.map((figure) => [nameOf(figure), median(figure.rounds)] as const)));
  return now.map((figure) => {
    const name = nameOf(figure);
    return { name, now: median(figure.rounds), before: known.get(name), counted: true as const };
  });
}

/** Returns true if the new value is worse than the stored one by more than is allowed. */
export function isRegression({ now, before, counted }: Comparison): boolean {
  if (before === undefined) return false;
  return counted ? !(now <= before * (1 + ALLOWED_MORE)) : !(now >= before * (1 - ALLOWED));
}

function nameOf({ measurement, case: name, setting, contestant, unit }: Figure): string {
  return `${[measurement, name, setting].join(', ')}: ${contestant}, ${unit}`;
}

const PROCESSOR = 'processor µs';

function toComparable(figure: Figure): readonly Figure[] {
  if (figure.unit !== 'requests/s') return [figure];
  const time = figure.beside?.[PROCESSOR];
  return time === undefined ? [] : [{ ...figure, case: `${figure.case}, ${PROCESSOR}`, unit: PROCESSOR, better: 'less', rounds: [time] }];
}

function toRatios(figures: readonly Figure[]): readonly (readonly [string, number])[] {
  return toGroups(figures).flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const where = [first.measurement, first.case, first.setting].join(', ');
    return others.map((other) => [`${where}: ${first.contestant} against ${other.contestant}`, advantageOf(first, other)] as const);
  });
}
