import type { CelFunc } from '@bufbuild/cel';
import { parseInstant } from '../../operators/index.ts';
import { type CelTime, celLibrary, refuse, type SpendEffort, standardFunction, timeTypes } from './cel-library.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Part = (at: Date) => number;

/** CEL's functions of timestamps. Each receives a date whose UTC fields are the local time in the time zone. */
const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
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
 * Creates CEL's functions of timestamps. The library's functions use the local time of the process, which skips an hour a year, map years
 * before 100 to the twentieth century, and create a formatter for the time zone at each call.
 */
export function createInstantFunctions(spend: SpendEffort): readonly CelFunc[] {
  const { CelScalar, celMethod } = celLibrary();
  const { INT, STRING } = CelScalar;
  const { TIMESTAMP } = timeTypes();
  const read = createInstantParser(spend);
  const inUtc = (part: Part, instant: CelTime): bigint => BigInt(part(new Date(toMilliseconds(instant))));
  const inZone = (part: Part, instant: CelTime, zone: string): bigint => {
    const at = toMilliseconds(instant);
    return BigInt(part(new Date(at + offsetOf(zone, at, spend))));
  };
  return [...PARTS].flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return inUtc(part, this);
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return inZone(part, this, zone);
    }),
    celMethod(name, STRING, [], INT, function () {
      return inUtc(part, read(String(this)));
    }),
    celMethod(name, STRING, [STRING], INT, function (zone) {
      return inZone(part, read(String(this)), zone);
    }),
  ]);
}

/**
 * Creates operators that parse a text as a timestamp if the other side is a timestamp or a duration: fields and claims hold timestamps
 * as texts. `createComparingFunctions` does the same for `_==_`.
 */
export function createInstantTexts(spend: SpendEffort): readonly CelFunc[] {
  const { CelScalar, celFunc } = celLibrary();
  const { BOOL, STRING } = CelScalar;
  const { TIMESTAMP, DURATION } = timeTypes();
  const read = createInstantParser(spend);
  const [plus, minus] = [standardFunction('_+_') as Arithmetic, standardFunction('_-_') as Arithmetic];
  return [
    ...['_<_', '_<=_', '_>_', '_>=_'].flatMap((name) => {
      const standard = standardFunction(name);
      return [
        celFunc(name, [STRING, TIMESTAMP], BOOL, (left, right) => standard(read(left), right) === true),
        celFunc(name, [TIMESTAMP, STRING], BOOL, (left, right) => standard(left, read(right)) === true),
      ];
    }),
    celFunc('_-_', [STRING, STRING], DURATION, (left, right) => minus(read(left), read(right))),
    celFunc('_-_', [STRING, TIMESTAMP], DURATION, (left, right) => minus(read(left), right)),
    celFunc('_-_', [TIMESTAMP, STRING], DURATION, (left, right) => minus(left, read(right))),
    celFunc('_-_', [STRING, DURATION], TIMESTAMP, (left, right) => minus(read(left), right)),
    celFunc('_+_', [STRING, DURATION], TIMESTAMP, (left, right) => plus(read(left), right)),
    celFunc('_+_', [DURATION, STRING], TIMESTAMP, (left, right) => plus(left, read(right))),
  ];
}

type Arithmetic = (left: CelTime, right: CelTime) => CelTime;

/** Creates a parser of timestamps that passes the length of each text to `spend`. */
export function createInstantParser(spend: SpendEffort): (text: string) => CelTime {
  const toTimestamp = createTimestamps();
  return (text) => {
    spend(text.length);
    return toTimestamp(text);
  };
}

/** Creates the conversion of RFC 3339 texts: the library validates the form, `parseInstant` the calendar and the clock. */
export function createTimestamps(): (text: string) => CelTime {
  const standard = standardFunction('timestamp') as (text: string) => CelTime;
  return (text) => (parseInstant(text) === undefined ? refuse('no RFC 3339 timestamp') : standard(text));
}

/** The protobuf message of a CEL timestamp. */
interface TimestampMessage {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Converts a timestamp to milliseconds since 1970. */
export function toMilliseconds({ message }: CelTime): number {
  const { seconds, nanos } = message as unknown as TimestampMessage;
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

/** Returns the day of the year, counted from 0. */
function toDayOfYear(at: Date): number {
  const newYear = new Date(at);
  newYear.setUTCMonth(0, 1);
  return Math.round((at.getTime() - newYear.getTime()) / DAY);
}

const FIXED_ZONE = /^([+-]?)(\d\d):(\d\d)$/;
/** `Intl` also accepts offsets such as `+0530`, which CEL does not. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9/_+-]{0,63}$/;
/** The offset in formatted dates. Before standard time, offsets had seconds. */
const FORMATTED_OFFSET = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
/** The effort of formatting an offset and of creating a formatter, in characters read. */
const [FORMAT_EFFORT, BUILD_EFFORT] = [20, 2000];
/** Formatters by time zone. The names may come from clients, so the number is limited. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 200;

/** Returns the offset of a time zone, `+01:00` or an IANA name, from UTC in milliseconds. */
function offsetOf(zone: string, at: number, spend: SpendEffort): number {
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

/** Returns the formatter of a time zone. Throws if the zone does not exist. */
function formatOf(zone: string, spend: SpendEffort): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  spend(BUILD_EFFORT);
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
}
