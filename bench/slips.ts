import type { Figure, Results } from './measurement.ts';
import { advantageOf, toGroups } from './report.ts';

/** A ratio that is far below what it was. */
export interface Slip {
  /** `http, create, 64 connections: bailiwick against by hand` */
  readonly what: string;
  readonly now: number;
  readonly before: number;
}

/** What part of a ratio may be lost: a machine that does something else loses less. */
const ALLOWED = 0.3;

/** Ratios as they are now, and as they were when they were last kept. Ratios, because machines differ. */
export function compareRatios(now: readonly Figure[], kept: readonly Results[]): readonly Slip[] {
  const known = new Map(kept.flatMap(({ figures }) => toRatios(figures)));
  return toRatios(now).flatMap(([what, ratio]) => {
    const before = known.get(what);
    return before === undefined ? [] : [{ what, now: ratio, before }];
  });
}

/** Whether it fell by more than is allowed. */
export function isSlip({ now, before }: Slip): boolean {
  return !(now >= before * (1 - ALLOWED));
}

function toRatios(figures: readonly Figure[]): readonly (readonly [string, number])[] {
  return toGroups(figures).flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const where = [first.measurement, first.case, first.setting].join(', ');
    return others.map((other) => [`${where}: ${first.contestant} against ${other.contestant}`, advantageOf(first, other)] as const);
  });
}
