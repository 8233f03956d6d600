import type { Figure } from './measurement.ts';
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

/** Ratios as they are now and were before, of figures that both have. Ratios, because machines differ. */
export function compareRatios(now: readonly Figure[], before: readonly Figure[]): readonly Slip[] {
  const known = new Map(toGroups(before).flatMap((group) => toRatios(group)));
  return toGroups(now)
    .flatMap((group) => toRatios(group))
    .flatMap(([what, ratio]) => {
      const last = known.get(what);
      return last === undefined ? [] : [{ what, now: ratio, before: last }];
    });
}

/** Whether it fell by more than is allowed. */
export function isSlip({ now, before }: Slip): boolean {
  return !(now >= before * (1 - ALLOWED));
}

function toRatios(group: readonly Figure[]): readonly (readonly [string, number])[] {
  const [first, ...others] = group;
  if (first === undefined) return [];
  const where = [first.measurement, first.case, first.setting].join(', ');
  return others.map((other) => [`${where}: ${first.contestant} against ${other.contestant}`, advantageOf(first, other)]);
}
