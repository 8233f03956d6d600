import type { CelFunc } from '@bufbuild/cel';
import { celLibrary } from './cel-library.ts';
import { refuse, type Spend, timeTypes } from './cel-standard.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What each function tells of an instant, given as a date whose UTC fields are those of the time zone. */
const PARTS: ReadonlyMap<string, (at: Date) => number> = new Map<string, (at: Date) => number>([
  ['getFullYear', (at) => at.getUTCFullYear()],
  ['getMonth', (at) => at.getUTCMonth()],
  ['getDate', (at) => at.getUTCDate()],
  ['getDayOfMonth', (at) => at.getUTCDate() - 1],
  ['getDayOfWeek', (at) => at.getUTCDay()],
  ['getDayOfYear', toDayOfYear],
  ['getHours', (at) => at.getUTCHours()],
  ['getMinutes', (at) => at.getUTCMinutes()],
  ['getSeconds', (at) => at.getUTCSeconds()],
  ['getMilliseconds', (at) => at.getUTCMilliseconds()],
]);

/**
 * CEL's functions of instants. Those of the library go by the local time of the process, which skips an hour a year, take years
 * before 100 for the twentieth century, and build a formatter for a time zone at each call.
 */
export function createInstantFunctions(spend: Spend): readonly CelFunc[] {
  const { CelScalar, celMethod } = celLibrary();
  const { INT, STRING } = CelScalar;
  const { TIMESTAMP } = timeTypes();
  return [...PARTS].flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(part(new Date(toMilliseconds(this))));
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      const at = toMilliseconds(this);
      return BigInt(part(new Date(at + offsetOf(zone, at, spend))));
    }),
  ]);
}

/** The protobuf message that CEL's instants are. */
interface TimestampMessage {
  readonly seconds: bigint;
  readonly nanos: number;
}

function toMilliseconds({ message }: { readonly message: unknown }): number {
  const { seconds, nanos } = message as TimestampMessage;
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

/** Counted from 0. */
function toDayOfYear(at: Date): number {
  const newYear = new Date(at);
  newYear.setUTCMonth(0, 1);
  return Math.round((at.getTime() - newYear.getTime()) / DAY);
}

const FIXED_ZONE = /^([+-]?)(\d\d):(\d\d)$/;
/** `Intl` knows offsets such as `+0530` too, which CEL does not. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9/_+-]{0,63}$/;
/** As formatters write it; before time zones, local time differed by seconds. */
const FORMATTED_OFFSET = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
/** Characters that could be read in the time it takes to format an offset, and to build a formatter. */
const [FORMAT_EFFORT, BUILD_EFFORT] = [20, 2000];
/** Formatters by the names that expressions use; names may come from clients. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 200;

/** Milliseconds by which local time in a zone, `+01:00` or an IANA name, is ahead of UTC. */
function offsetOf(zone: string, at: number, spend: Spend): number {
  const fixed = FIXED_ZONE.exec(zone);
  if (fixed !== null) return toOffset(fixed);
  if (!ZONE_NAME.test(zone)) return refuse('no time zone');
  spend(FORMAT_EFFORT);
  const name = formatOf(zone, spend)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  return toOffset(FORMATTED_OFFSET.exec(name ?? '') ?? refuse('no offset'));
}

function toOffset([, sign, hours = '0', minutes = '0', seconds = '0']: RegExpExecArray): number {
  if (Number(hours) > 23 || Number(minutes) > 59) return refuse('no offset');
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * 1000);
}

/** Throws where there is no zone of that name. */
function formatOf(zone: string, spend: Spend): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  spend(BUILD_EFFORT);
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
}
