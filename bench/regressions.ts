import type { Figure, Results } from './measurement.ts';
import { advantageOf, toGroups } from './report.ts';
import { median } from './statistics.ts';

/** A ratio or a count: the new value and the stored one. */
export interface Comparison {
  /** `http, create, 64 connections: bailiwick against by hand` */
  readonly name: string;
  readonly now: number;
  readonly before: number;
  /** True for a count, where less is better. */
  readonly counted?: true;
}

/** Share of a ratio that may be lost. The ratios of a busy machine differ by less. */
const ALLOWED = 0.3;
/** Share by which a count may grow. Counts differ by less than a hundredth between machines. */
const ALLOWED_MORE = 0.1;

/** Compares ratios with the last stored ones. Figures are not compared, because machines differ. */
export function compareRatios(now: readonly Figure[], kept: readonly Results[]): readonly Comparison[] {
  const known = new Map(kept.flatMap(({ figures }) => toRatios(figures)));
  return toRatios(now).flatMap(([name, ratio]) => {
    const before = known.get(name);
    return before === undefined ? [] : [{ name, now: ratio, before }];
  });
}

/** Compares counts with the last stored ones. */
export function compareCounts(now: readonly Figure[], kept: readonly Results[]): readonly Comparison[] {
  const known = new Map(kept.flatMap(({ figures }) => figures.map((figure) => [nameOf(figure), median(figure.rounds)] as const)));
  return now.flatMap((figure) => {
    const before = known.get(nameOf(figure));
    return before === undefined ? [] : [{ name: nameOf(figure), now: median(figure.rounds), before, counted: true as const }];
  });
}

/** Returns true if the new value is worse than the stored one by more than is allowed. */
export function isRegression({ now, before, counted }: Comparison): boolean {
  return counted ? !(now <= before * (1 + ALLOWED_MORE)) : !(now >= before * (1 - ALLOWED));
}

function nameOf({ measurement, case: name, setting, contestant, unit }: Figure): string {
  return `${[measurement, name, setting].join(', ')}: ${contestant}, ${unit}`;
}

function toRatios(figures: readonly Figure[]): readonly (readonly [string, number])[] {
  return toGroups(figures).flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const where = [first.measurement, first.case, first.setting].join(', ');
    return others.map((other) => [`${where}: ${first.contestant} against ${other.contestant}`, advantageOf(first, other)] as const);
  });
}
