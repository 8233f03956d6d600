import type { CelFunc, CelInput, CelObjectType, CelScalar } from '@bufbuild/cel';
import { parseInstant } from '../../operators/index.ts';
import { type CelTime, celLibrary, refuse, type Spend, standardFunction, timeTypes } from './cel-library.ts';

/** A decimal int64 has at most 19 digits behind leading zeros. */
const WHOLE = /^([+-]?)0*(\d{1,19})$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The names that CEL's mapping to JSON has for values that JSON has no number for. */
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['NaN', Number.NaN],
]);
const DURATION_TEXT = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;
/** The library reads no longer text as a duration. */
const MAX_DURATION_LENGTH = 128;
/** The first and last second of the years 1 to 9999, which CEL's timestamps are limited to. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800n, 253_402_300_799n];

/**
 * CEL's conversions as its specification defines them: a text that does not denote a value of the type is an error. The library
 * converts with `Number`, `BigInt` and `Date.parse`, for which "" is 0, "50%" is NaN, "0x10" is 16 and 30 February is in March; it
 * reads the int of `timestamp(int)` as milliseconds where CEL means seconds, and converts between durations and ints, which CEL does not.
 */
export function createConversions(spend: Spend): readonly CelFunc[] {
  const { INT, DOUBLE, STRING } = celLibrary().CelScalar;
  const { TIMESTAMP, DURATION } = timeTypes();
  const toTimestamp = createTimestamps();
  const toDuration = standardFunction('duration') as (text: string) => CelTime;
  const { celFunc } = celLibrary();
  const ofText = <const Result extends Scalar | CelObjectType>(
    name: string,
    result: Result,
    convert: (text: string) => CelInput<Result>,
  ): CelFunc =>
    celFunc(name, [STRING], result, (text) => {
      spend(text.length);
      return convert(text);
    });
  return [
    ofText('int', INT, toInt),
    ofText('double', DOUBLE, toDouble),
    ofText('timestamp', TIMESTAMP, toTimestamp),
    ofText('duration', DURATION, (text) => (isDuration(text) ? toDuration(text) : refuse('no duration'))),
    celFunc('timestamp', [INT], TIMESTAMP, (seconds) => toTimestamp(toInstantOf(seconds))),
    celFunc('duration', [INT], DURATION, () => refuse('an int is no duration')),
    celFunc('int', [DURATION], INT, () => refuse('a duration is no int')),
  ];
}

/** The conversion of texts in RFC 3339: the library checks their form, `parseInstant` the calendar and the clock. */
export function createTimestamps(): (text: string) => CelTime {
  const standard = standardFunction('timestamp') as (text: string) => CelTime;
  return (text) => (parseInstant(text) === undefined ? refuse('no RFC 3339 timestamp') : standard(text));
}

type Scalar = (typeof CelScalar)['INT' | 'DOUBLE'];

function toInt(text: string): bigint {
  const [, sign, digits] = WHOLE.exec(text) ?? refuse('no int');
  const value = BigInt(`${sign}${digits}`);
  return BigInt.asIntN(64, value) === value ? value : refuse('beyond int64');
}

function toDouble(text: string): number {
  const named = NOT_FINITE.get(text);
  if (named !== undefined) return named;
  const value = DECIMAL.test(text) ? Number(text) : refuse('no double');
  return Number.isFinite(value) ? value : refuse('beyond double');
}

function toInstantOf(seconds: bigint): string {
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) refuse('beyond the range of timestamps');
  return new Date(Number(seconds) * 1000).toISOString();
}

function isDuration(text: string): boolean {
  return text.length <= MAX_DURATION_LENGTH && DURATION_TEXT.test(text);
}
