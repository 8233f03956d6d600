import type { CelFunc, CelValue } from '@bufbuild/cel';
import { type Frame, type Json, matchesPattern, matchingSteps, OPERATORS, type Truth, UNKNOWN } from '../operators/index.ts';
import { celLibrary } from './cel-library.ts';

/** What comparing two values without a definition needs to know: nothing. */
const FRAME: Frame = { kind: undefined, itemKind: undefined, now: 0, timeZone: 'UTC' };

/**
 * CEL's comparisons with the meaning of our operators, for what of an expression stays CEL: values of different types
 * are an error, and so unknown, where CEL itself calls them simply not equal; text goes by code points; lists and
 * objects compare with nothing. Each tells `spend` how much text it looks at.
 */
export function createComparingFunctions(spend: Spend): readonly CelFunc[] {
  const { CelScalar, celEnv, celFunc, celMethod, listType, mapType } = celLibrary();
  const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
  const standardEqual = celEnv().funcs.find('_==_');
  const standard: Equality = (left, right) => standardEqual?.call(0, undefined, [left, right]) === true;
  const ask = (name: string, left: string, right: string): boolean => {
    spend(left.length + right.length);
    return answer(name, left, right);
  };
  const isEqual = createEquality((left, right) =>
    typeof left === 'string' && typeof right === 'string' ? ask('eq', left, right) : standard(left, right),
  );
  return [
    celFunc('_==_', [DYN, DYN], BOOL, isEqual),
    celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !isEqual(left, right)),
    ...Object.entries({ '_<_': 'lt', '_<=_': 'lte', '_>_': 'gt', '_>=_': 'gte' }).flatMap(([name, operator]) => [
      celFunc(name, [STRING, STRING], BOOL, (left, right) => ask(operator, left, right)),
      celFunc(name, [BOOL, BOOL], BOOL, () => refuse('true and false have no order')),
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

/** CEL's functions that go through a text, with its length told to `spend` first: an item of a list is read once, and asked often. */
export function createTextFunctions(spend: Spend): readonly CelFunc[] {
  const { CelScalar, celEnv, celFunc, celMethod } = celLibrary();
  const { INT, STRING } = CelScalar;
  const { funcs } = celEnv();
  const whole = (name: string, text: string): bigint => {
    spend(text.length);
    const number = funcs.find(name)?.call(0, undefined, [text]);
    return typeof number === 'bigint' ? number : refuse('no whole number');
  };
  return [
    celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
      spend(left.length + right.length);
      return left + right;
    }),
    celFunc('int', [STRING], INT, (text) => whole('int', text)),
    celFunc('size', [STRING], INT, (text) => whole('size', text)),
    celMethod('size', STRING, [], INT, function () {
      return whole('size', String(this));
    }),
  ];
}

/** CEL's `matches`, by RE2 and within the same bounds as the operator. */
export function createPatterns(spend: Spend): { compile(pattern: string): { test(text: string): boolean } } {
  return {
    compile: (pattern) => ({
      test(text) {
        spend(matchingSteps(text, pattern));
        return matchesPattern(text, pattern) ?? refuse('no RE2 pattern');
      },
    }),
  };
}

/** Counts the effort of an evaluation; throws where none is left. */
export type Spend = (effort: number) => void;

type Equality = (left: CelValue, right: CelValue) => boolean;

/** Equality that refuses what does not compare; `alike` compares what is of one kind. */
function createEquality(alike: Equality): Equality {
  return (left, right) => {
    const [kind, other] = [kindOf(left), kindOf(right)];
    if (kind === 'structure' || other === 'structure') return refuse('lists and objects compare with nothing');
    if (left === null || right === null) return left === right;
    if (kind !== other) return refuse(`${kind} does not compare with ${other}`);
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
  const truth: Truth = OPERATORS.get(name)?.matches(left, right, FRAME) ?? UNKNOWN;
  return truth === UNKNOWN ? refuse(`${name} is unknown`) : truth;
}

/** CEL's numbers are three types that compare with each other. */
function kindOf(value: CelValue): string {
  const { celType, isCelUint } = celLibrary();
  if (typeof value === 'number' || typeof value === 'bigint' || isCelUint(value)) return 'number';
  const { kind, name } = celType(value);
  return kind === 'list' || kind === 'map' ? 'structure' : name;
}

/** What a function throws is an error of the expression, and that is unknown. */
function refuse(reason: string): never {
  throw new Error(reason);
}
