import type { CelFunc, CelInput, CelObjectType, CelScalar, CelValue } from '@bufbuild/cel';
import {
  type ComparisonContext,
  type Json,
  matchesPattern,
  maxMatchingSteps,
  OPERATORS,
  type Truth,
  UNKNOWN,
} from '../../operators/index.ts';
import { type CelTime, celLibrary, refuse, type SpendEffort, standardFunction, timeTypes } from './cel-library.ts';
import { createInstantParser, createTimestamps } from './cel-timestamps.ts';

/** What comparing two values without a definition needs to know: nothing. */
const FRAME: ComparisonContext = { kind: undefined, itemKind: undefined, now: 0, timeZone: 'UTC' };

/**
 * CEL's comparisons with the meaning of our operators, for what of an expression stays CEL: values of different types
 * are an error, and so unknown, where CEL itself calls them not equal; text is ordered by code points; lists, objects and NaN
 * compare with nothing. Each passes the length of the text that it reads to `spend`.
 */
export function createComparingFunctions(spend: SpendEffort): readonly CelFunc[] {
  const { CelScalar, celFunc, celMethod, listType, mapType } = celLibrary();
  const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
  const standardEqual = standardFunction('_==_');
  const standard: Equality = (left, right) => standardEqual(left, right) === true;
  const ask = (name: string, left: string, right: string): boolean => {
    spend(left.length + right.length);
    return answer(name, left, right);
  };
  const isEqual = createEquality(
    (left, right) => (typeof left === 'string' && typeof right === 'string' ? ask('eq', left, right) : standard(left, right)),
    createInstantParser(spend),
  );
  return [
    celFunc('_==_', [DYN, DYN], BOOL, isEqual),
    celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !isEqual(left, right)),
    ...Object.entries({ '_<_': 'lt', '_<=_': 'lte', '_>_': 'gt', '_>=_': 'gte' }).flatMap(([name, operator]) => [
      celFunc(name, [STRING, STRING], BOOL, (left, right) => ask(operator, left, right)),
      celFunc(name, [BOOL, BOOL], BOOL, () => refuse('true and false have no order')),
      ...createNumberOrder(name),
    ]),
    celFunc('@in', [DYN, listType(DYN)], BOOL, (item, list) => isAmong(item, [...list], isEqual)),
    ...[STRING, DOUBLE, INT, BOOL, UINT].map((key) => celFunc('@in', [key, mapType(DYN, DYN)], BOOL, () => refuse('in asks lists'))),
    ...['contains', 'startsWith', 'endsWith'].map((name) =>
      celMethod(name, STRING, [STRING], BOOL, function (part) {
        return ask(name, String(this), part);
      }),
    ),
  ];
}

/**
 * Arithmetic of an int with a double, an extension of CEL: the result is a double. Integer fields used to be doubles, so expressions
 * such as `resource.amount * 1.5` keep working without a conversion.
 */
export function createMixedArithmetic(): readonly CelFunc[] {
  const { CelScalar, celFunc } = celLibrary();
  const { DOUBLE, INT } = CelScalar;
  return ['_+_', '_-_', '_*_', '_/_'].flatMap((name) => {
    const standard = standardFunction(name) as (left: number, right: number) => number;
    return [
      celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => standard(Number(left), right)),
      celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => standard(left, Number(right))),
    ];
  });
}

/** Makes a comparison with NaN an error: if `NaN > 10.0` were false, a DENY rule with it would not apply. */
function createNumberOrder(name: string): readonly CelFunc[] {
  const { CelScalar, celFunc } = celLibrary();
  const { BOOL, DOUBLE, INT, UINT } = CelScalar;
  const standard = standardFunction(name);
  const order: Equality = (left, right) =>
    isNotANumber(left) || isNotANumber(right) ? refuse('NaN has no order') : standard(left, right) === true;
  return [
    celFunc(name, [DOUBLE, DOUBLE], BOOL, order),
    ...[INT, UINT].flatMap((type) => [celFunc(name, [DOUBLE, type], BOOL, order), celFunc(name, [type, DOUBLE], BOOL, order)]),
  ];
}

function isNotANumber(value: CelValue): boolean {
  return Number.isNaN(value);
}

/** CEL's functions that go through a text, with its length told to `spend` first: an item of a list is read once, and asked often. */
export function createTextFunctions(spend: SpendEffort): readonly CelFunc[] {
  const { CelScalar, celFunc, celMethod } = celLibrary();
  const { INT, STRING } = CelScalar;
  const standardSize = standardFunction('size') as (text: string) => bigint;
  const size = (text: string): bigint => {
    spend(text.length);
    return standardSize(text);
  };
  return [
    celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
      spend(left.length + right.length);
      return left + right;
    }),
    celFunc('size', [STRING], INT, size),
    celMethod('size', STRING, [], INT, function () {
      return size(String(this));
    }),
  ];
}

/** CEL's `matches`, by RE2 and within the same bounds as the operator. */
export function createPatterns(spend: SpendEffort): { compile(pattern: string): { test(text: string): boolean } } {
  return {
    compile: (pattern) => ({
      test(text) {
        spend(maxMatchingSteps(text, pattern));
        return matchesPattern(text, pattern) ?? refuse('no RE2 pattern');
      },
    }),
  };
}

const INSTANT = 'google.protobuf.Timestamp';

type Equality = (left: CelValue, right: CelValue) => boolean;

/** Equality that throws for values of different kinds; `alike` compares values of one kind. A text is read as an instant if the other side is one. */
function createEquality(alike: Equality, readInstant: (text: string) => CelValue): Equality {
  return function isEqual(left, right): boolean {
    const [kind, other] = [kindOf(left), kindOf(right)];
    if (kind === INSTANT && typeof right === 'string') return isEqual(left, readInstant(right));
    if (other === INSTANT && typeof left === 'string') return isEqual(readInstant(left), right);
    if (kind === 'structure' || other === 'structure') return refuse('lists and objects compare with nothing');
    if (left === null || right === null) return left === right;
    if (kind !== other) return refuse(`${kind} does not compare with ${other}`);
    if (isNotANumber(left) || isNotANumber(right)) return refuse('NaN equals nothing');
    return alike(left, right);
  };
}

/** Kleene's or: one item that does not compare leaves "no" unknown. */
function isAmong(item: CelValue, list: readonly CelValue[], isEqual: Equality): boolean {
  let broken: unknown;
  for (const other of list) {
    try {
      if (isEqual(item, other)) return true;
    } catch (error) {
      broken = error;
    }
  }
  if (broken !== undefined) throw broken;
  return false;
}

/** The answer of our own operator of that name. */
function answer(name: string, left: Json, right: Json): boolean {
  const truth: Truth = OPERATORS.get(name)?.evaluate(left, right, FRAME) ?? UNKNOWN;
  return truth === UNKNOWN ? refuse(`${name} is unknown`) : truth;
}

/** CEL's numbers are three types that compare with each other. */
function kindOf(value: CelValue): string {
  const { celType, isCelUint } = celLibrary();
  if (typeof value === 'number' || typeof value === 'bigint' || isCelUint(value)) return 'number';
  const { kind, name } = celType(value);
  return kind === 'list' || kind === 'map' ? 'structure' : name;
}

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
export function createConversions(spend: SpendEffort): readonly CelFunc[] {
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
