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

/** The context of comparisons in expressions: values have no kind, and no operator used here depends on the time. */
const CONTEXT: ComparisonContext = { kind: undefined, itemKind: undefined, now: 0, timeZone: 'UTC' };

/**
 * Creates CEL's comparison functions with the semantics of our operators. Comparing values of different types is an error, where CEL
 * returns "not equal". Texts are ordered by code points. Comparisons with lists, objects and NaN are errors. Each function passes the
 * length of the texts that it reads to `spend`.
 */
export function createComparingFunctions(spend: SpendEffort): readonly CelFunc[] {
  const { CelScalar, celFunc, celMethod, listType, mapType } = celLibrary();
  const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
  const standardEqual = standardFunction('_==_');
  const standard: Equality = (left, right) => standardEqual(left, right) === true;
  const compareTexts = (name: string, left: string, right: string): boolean => {
    spend(left.length + right.length);
    return evaluateOperator(name, left, right);
  };
  const isEqual = createEquality(
    (left, right) => (typeof left === 'string' && typeof right === 'string' ? compareTexts('eq', left, right) : standard(left, right)),
    createInstantParser(spend),
  );
  return [
    celFunc('_==_', [DYN, DYN], BOOL, isEqual),
    celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !isEqual(left, right)),
    ...Object.entries({ '_<_': 'lt', '_<=_': 'lte', '_>_': 'gt', '_>=_': 'gte' }).flatMap(([name, operator]) => [
      celFunc(name, [STRING, STRING], BOOL, (left, right) => compareTexts(operator, left, right)),
      celFunc(name, [BOOL, BOOL], BOOL, () => refuse('true and false have no order')),
      ...createNumberOrder(name),
    ]),
    celFunc('@in', [DYN, listType(DYN)], BOOL, (item, list) => isAmong(item, [...list], isEqual)),
    ...[STRING, DOUBLE, INT, BOOL, UINT].map((key) =>
      celFunc('@in', [key, mapType(DYN, DYN)], BOOL, () => refuse('the right side of in is not a list')),
    ),
    ...['contains', 'startsWith', 'endsWith'].map((name) =>
      celMethod(name, STRING, [STRING], BOOL, function (part) {
        return compareTexts(name, String(this), part);
      }),
    ),
  ];
}

/**
 * Creates arithmetic of an int with a double, an extension of CEL: the result is a double. Expressions
 * such as `resource.amount * 1.5` then need no conversion for integer fields.
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

/**
 * Creates the order `name`, such as `_<_`, of numbers. A comparison with NaN is an error: if `NaN > 10.0` were false, a DENY rule with it
 * would not apply.
 */
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

/**
 * Creates CEL's text functions. They pass the length of each text to `spend`, because a loop reads an item of a list once but may call many
 * functions with it.
 */
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

/** Creates CEL's `matches` with RE2 and the limits of the operator `matches`. */
export function createPatterns(spendSteps: SpendEffort): { compile(pattern: string): { test(text: string): boolean } } {
  return {
    compile: (pattern) => ({
      test(text) {
        spendSteps(maxMatchingSteps(text, pattern));
        return matchesPattern(text, pattern) ?? refuse('no RE2 pattern');
      },
    }),
  };
}

const INSTANT = 'google.protobuf.Timestamp';

type Equality = (left: CelValue, right: CelValue) => boolean;

/**
 * Creates an equality that throws for values of different kinds. `alike` compares values of the same kind. If one side is an instant, a text
 * on the other side is read as an instant.
 */
function createEquality(alike: Equality, readInstant: (text: string) => CelValue): Equality {
  return function isEqual(left, right): boolean {
    const [kind, other] = [kindOf(left), kindOf(right)];
    if (kind === INSTANT && typeof right === 'string') return isEqual(left, readInstant(right));
    if (other === INSTANT && typeof left === 'string') return isEqual(readInstant(left), right);
    if (kind === 'structure' || other === 'structure') return refuse('lists and objects cannot be compared');
    if (left === null || right === null) return left === right;
    if (kind !== other) return refuse(`${kind} does not compare with ${other}`);
    if (isNotANumber(left) || isNotANumber(right)) return refuse('NaN equals nothing');
    return alike(left, right);
  };
}

/** Returns whether a list contains an equal item. Throws if no item is equal and an item cannot be compared (Kleene's `or`). */
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

/** Evaluates our operator `name`. Throws if the result is unknown. */
function evaluateOperator(name: string, left: Json, right: Json): boolean {
  const truth: Truth = OPERATORS.get(name)?.evaluate(left, right, CONTEXT) ?? UNKNOWN;
  return truth === UNKNOWN ? refuse(`${name} is unknown`) : truth;
}

/** Returns the name of a value's type; `number` for int, uint and double, which compare with each other; `structure` for lists and maps. */
function kindOf(value: CelValue): string {
  const { celType, isCelUint } = celLibrary();
  if (typeof value === 'number' || typeof value === 'bigint' || isCelUint(value)) return 'number';
  const { kind, name } = celType(value);
  return kind === 'list' || kind === 'map' ? 'structure' : name;
}

/** The text of an int. An int64 has at most 19 decimal digits after leading zeros. */
const WHOLE = /^([+-]?)0*(\d{1,19})$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The texts of CEL's JSON mapping for numbers that JSON cannot represent. */
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['NaN', Number.NaN],
]);
const DURATION_TEXT = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;
/** Maximum length of a duration's text, in characters. The library rejects longer texts. */
const MAX_DURATION_LENGTH = 128;
/** The first and last second of the years 1 to 9999, which CEL's timestamps are limited to. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800n, 253_402_300_799n];

/**
 * Creates CEL's conversions as its specification defines them: a text that does not denote a value of the type is an error. The library
 * uses `Number`, `BigInt` and `Date.parse`, which convert "" to 0, "50%" to NaN, "0x10" to 16 and 30 February to a day in March. It also
 * takes the int of `timestamp(int)` as milliseconds instead of seconds, and converts between durations and ints, which CEL does not.
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
