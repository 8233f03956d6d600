/** The chosen times of the audit log, as fields for local time have them. */
import { fromLocalTime, toLocalTime } from '../../components/local-time.ts';
import { hoursOf } from './filters.ts';
import type { DecisionsSearch } from './search.ts';

/** The chosen times: instants, or texts of fields for local time. Empty without a limit. */
export interface EntryTimes {
  readonly from: string;
  readonly to: string;
}

const DAY_HOURS = 24;

/** Returns the state with a chosen time instead of a range: the same entries, as far as the range has a start, and otherwise those of a day. */
export function chooseTimes({ range = '24h', ...others }: DecisionsSearch, now: number): DecisionsSearch {
  const start = now - (hoursOf(range) ?? DAY_HOURS) * 3_600_000;
  return { ...others, from: toSeconds(start), to: toSeconds(now + 999) };
}

/** Returns the chosen times as the fields show them, without parts of seconds. */
export function toFields({ from, to }: Pick<DecisionsSearch, 'from' | 'to'>): EntryTimes {
  return { from: toField(from), to: toField(to) };
}

/** Returns the state with the times of the fields. A field that was not changed keeps its instant. Without both, all entries are shown. */
export function withFields(search: DecisionsSearch, fields: EntryTimes): DecisionsSearch {
  const { from, to, range: _, ...others } = search;
  const shown = toFields(search);
  const times = {
    from: fields.from === shown.from ? from : fromLocalTime(fields.from, from),
    to: fields.to === shown.to ? to : fromLocalTime(fields.to, to),
  };
  const set = Object.fromEntries(Object.entries(times).filter(([, instant]) => instant !== undefined && instant !== ''));
  return Object.keys(set).length === 0 ? { ...others, range: 'all' } : { ...others, ...set };
}

/** Returns true if the first time is before the second, or if one is missing. Texts of fields are compared as they are. */
export function isOrdered({ from, to }: EntryTimes): boolean {
  return from === '' || to === '' || new Date(from).getTime() < new Date(to).getTime();
}

function toField(instant: string | undefined): string {
  const at = Date.parse(instant ?? '');
  return Number.isNaN(at) ? '' : (toLocalTime(toSeconds(at)) ?? '');
}

function toSeconds(at: number): string {
  return new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
