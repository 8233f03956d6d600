import type { Figure, Results } from './measurement.ts';
import { advantageOf, toGroups } from './report.ts';
import { median } from './statistics.ts';

/** A ratio or a count as it is now, and as it was. */
export interface Slip {
  /** `http, create, 64 connections: bailiwick against by hand` */
  readonly what: string;
  readonly now: number;
  readonly before: number;
  /** It is a count: the less the better. */
  readonly counted?: true;
}

/** What part of a ratio may be lost: a machine that does something else loses less. */
const ALLOWED = 0.3;
/** What a count may grow by: it is the same on every machine, to a hundredth. */
const ALLOWED_MORE = 0.1;

/** Ratios as they are now, and as they were when they were last kept. Ratios, because machines differ. */
export function compareRatios(now: readonly Figure[], kept: readonly Results[]): readonly Slip[] {
  const known = new Map(kept.flatMap(({ figures }) => toRatios(figures)));
  return toRatios(now).flatMap(([what, ratio]) => {
    const before = known.get(what);
    return before === undefined ? [] : [{ what, now: ratio, before }];
  });
}

/** What was counted, and what it was when it was last kept. */
export function compareCounts(now: readonly Figure[], kept: readonly Results[]): readonly Slip[] {
  const known = new Map(kept.flatMap(({ figures }) => figures.map((figure) => [nameOf(figure), median(figure.rounds)] as const)));
  return now.flatMap((figure) => {
    const before = known.get(nameOf(figure));
    return before === undefined ? [] : [{ what: nameOf(figure), now: median(figure.rounds), before, counted: true as const }];
  });
}

/** Whether it is worse by more than is allowed. */
export function isSlip({ now, before, counted }: Slip): boolean {
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
