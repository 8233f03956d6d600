import { parseInstant } from '../../operators/index.ts';
import type { PathKind } from '../condition.ts';
import { type ConditionParser, lookupKind } from '../condition-parser.ts';
import { CEL_FUNCTIONS, CEL_OPERATORS } from './cel-language.ts';
import { addMistake, type CelMistakes } from './cel-mistakes.ts';
import { type CelNode, callOf, INDEX, pathOf } from './cel-tree.ts';

/**
 * The types of CEL. Numbers are `double`, numbers of integer fields are `int`; dates, instants and decimals are texts. A `text` may be
 * read as a timestamp; a `date` and `plainText` never are.
 */
type CelType = 'boolean' | 'int' | 'double' | 'text' | 'date' | 'plainText' | 'list' | 'map' | 'timestamp' | 'duration' | 'null';
/** A type; undefined if the type is not known, as for claims, JSON and items of lists. */
type MaybeType = CelType | undefined;

const NAMES: Readonly<Record<CelType, string>> = {
  boolean: 'true or false',
  int: 'a whole number (1)',
  double: 'a number (1.0)',
  text: 'a text',
  date: 'a date',
  plainText: 'a text',
  list: 'a list',
  map: 'an object',
  timestamp: 'a timestamp',
  duration: 'a duration',
  null: 'null',
};

type Overload = readonly [args: readonly MaybeType[], result: MaybeType];

const same = (types: readonly CelType[], result?: CelType): readonly Overload[] => types.map((type) => [[type, type], result ?? type]);
const number: readonly CelType[] = ['int', 'double'];
const ofNumbers: readonly Overload[] = number.flatMap((left) => number.map((right): Overload => [[left, right], 'boolean']));
const ORDER: readonly Overload[] = [...ofNumbers, ...same(['text', 'timestamp', 'duration'], 'boolean')];
const NULL: readonly Overload[] = [
  [['null', undefined], 'boolean'],
  [[undefined, 'null'], 'boolean'],
];
const EQUALITY: readonly Overload[] = [...ORDER, ...same(['boolean'], 'boolean'), ...NULL];
const PART: readonly Overload[] = [[['text', 'text'], 'boolean']];
const TIMESTAMP_GETTERS: readonly Overload[] = [
  [['timestamp'], 'int'],
  [['timestamp', 'text'], 'int'],
];
const DURATION_GETTERS: readonly Overload[] = [[['duration'], 'int']];
const from = (types: readonly CelType[], result: CelType): readonly Overload[] => types.map((type) => [[type], result]);

/** The overloads of arithmetic: numbers of one type give that type, an int and a double give a double. */
const ARITHMETIC: readonly Overload[] = [...same(number), [['int', 'double'], 'double'], [['double', 'int'], 'double']];

/** The overloads of functions. A function without overloads accepts every type. */
const OVERLOADS: ReadonlyMap<string, readonly Overload[]> = new Map<string, readonly Overload[]>([
  ['_==_', EQUALITY],
  ['_!=_', EQUALITY],
  ...['_<_', '_<=_', '_>_', '_>=_'].map((name) => [name, ORDER] as const),
  ...['contains', 'startsWith', 'endsWith', 'matches'].map((name) => [name, PART] as const),
  ...[...CEL_FUNCTIONS.keys()].filter((name) => name.startsWith('get')).map((name) => [name, TIMESTAMP_GETTERS] as const),
  ...['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'].map(
    (name) => [name, [...TIMESTAMP_GETTERS, ...DURATION_GETTERS]] as const,
  ),
  ['@in', [[[undefined, 'list'], 'boolean']]],
  ['!_', from(['boolean'], 'boolean')],
  [
    '_+_',
    [
      ...ARITHMETIC,
      ...same(['text', 'list', 'duration']),
      [['timestamp', 'duration'], 'timestamp'],
      [['duration', 'timestamp'], 'timestamp'],
    ],
  ],
  ['_-_', [...ARITHMETIC, ...same(['duration']), ...same(['timestamp'], 'duration'), [['timestamp', 'duration'], 'timestamp']]],
  ['_*_', ARITHMETIC],
  ['_/_', ARITHMETIC],
  ['_%_', same(['int'])],
  ['-_', [...from(['int'], 'int'), ...from(['double'], 'double')]],
  [
    INDEX,
    [
      [['list', 'int'], undefined],
      [['list', 'double'], undefined],
      [['map', undefined], undefined],
    ],
  ],
  ['size', from(['text', 'list', 'map'], 'int')],
  ['int', from(['int', 'double', 'text', 'timestamp'], 'int')],
  ['double', from(['int', 'double', 'text'], 'double')],
  ['string', from(['int', 'double', 'text', 'boolean', 'timestamp', 'duration'], 'text')],
  ['timestamp', from(['timestamp', 'int'], 'timestamp')],
  ['duration', from(['text', 'duration'], 'duration')],
]);

interface Typing {
  readonly parser: ConditionParser;
  readonly mistakes: CelMistakes;
}

/** Returns the type mistakes of an expression. With such a mistake, the evaluation always fails and the condition is always unknown. */
export function validateTypes(root: CelNode, parser: ConditionParser): CelMistakes {
  const typing: Typing = { parser, mistakes: new Map() };
  const type = typeOf(root, new Map(), typing);
  if (typing.mistakes.size === 0 && type !== undefined && type !== 'boolean') {
    addMistake(typing.mistakes, `expected an expression that is true or false, given ${NAMES[type]}`, root);
  }
  return typing.mistakes;
}

/** Returns the type of a valid part of an expression; undefined if it may have several types. */
export function typeOfCel(node: CelNode, parser: ConditionParser): MaybeType {
  return typeOf(node, new Map(), { parser, mistakes: new Map() });
}

type Names = ReadonlyMap<string, MaybeType>;

function typeOf(node: CelNode | undefined, names: Names, typing: Typing): MaybeType {
  if (node === undefined) return undefined;
  const read = pathOf(node);
  if (read !== undefined) {
    const described = lookupKind(typing.parser, read.path);
    return read.presence ? 'boolean' : 'kind' in described ? toType(described.kind) : undefined;
  }
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'constExpr':
      return typeOfConstant(exprKind.value.constantKind);
    case 'identExpr':
      return names.get(exprKind.value.name);
    case 'listExpr':
      for (const item of exprKind.value.elements) typeOf(item, names, typing);
      return 'list';
    case 'comprehensionExpr':
      return typeOfLoop(node, names, typing);
    case 'callExpr':
      return typeOfCall(node, names, typing);
    default:
      return undefined;
  }
}

type Constant = Extract<CelNode['exprKind'], { case: 'constExpr' }>['value']['constantKind'];

const CONSTANTS: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['nullValue', 'null'],
  ['boolValue', 'boolean'],
  ['int64Value', 'int'],
  ['doubleValue', 'double'],
  ['stringValue', 'text'],
]);

function typeOfConstant({ case: name, value }: Constant): MaybeType {
  return typeof value === 'string' && parseInstant(value) === undefined ? 'plainText' : CONSTANTS.get(name ?? '');
}

function toType(described: PathKind | undefined): MaybeType {
  if (described === undefined || described.kind === 'json') return undefined;
  if (described.kind === 'boolean' || described.kind === 'list') return described.kind;
  if (described.kind === 'date') return 'date';
  return described.kind !== 'number' ? 'text' : described.whole === true ? 'int' : 'double';
}

/** Returns the type of a loop. Its accumulator keeps its initial type; the types of items are not known. */
function typeOfLoop(node: CelNode, names: Names, typing: Typing): MaybeType {
  if (node.exprKind.case !== 'comprehensionExpr') return undefined;
  const loop = node.exprKind.value;
  const range = typeOf(loop.iterRange, names, typing);
  if (range !== undefined && range !== 'list' && range !== 'map')
    addMistake(typing.mistakes, `a loop runs over a list, not over ${NAMES[range]}`, loop.iterRange ?? node);
  const inner = new Map([...names, [loop.iterVar, undefined], [loop.accuVar, typeOf(loop.accuInit, names, typing)]] as [
    string,
    MaybeType,
  ][]);
  for (const part of [loop.loopCondition, loop.loopStep]) typeOf(part, inner, typing);
  return typeOf(loop.result, inner, typing);
}

function typeOfCall(node: CelNode, names: Names, typing: Typing): MaybeType {
  const call = callOf(node);
  if (call === undefined) return undefined;
  const { name, target, args } = call;
  const types = (target === undefined ? args : [target, ...args]).map((part) => typeOf(part, names, typing));
  if (name === '_&&_' || name === '_||_')
    return types.every((type) => isAssignable(type, 'boolean')) ? 'boolean' : addTypeMistake(node, types, typing);
  if (name === '_?_:_') {
    const [test, yes, no] = types;
    return isAssignable(test, 'boolean') ? (yes === no ? yes : undefined) : addTypeMistake(node, types, typing);
  }
  const overloads = OVERLOADS.get(name);
  if (overloads === undefined) return undefined;
  const fitting = overloads.filter(
    ([wanted]) => wanted.length === types.length && wanted.every((type, at) => isAssignable(types[at], type)),
  );
  const [first, ...others] = fitting;
  if (first === undefined) return addTypeMistake(node, types, typing);
  return others.every(([, result]) => result === first[1]) ? first[1] : undefined;
}

function isAssignable(type: MaybeType, wanted: MaybeType): boolean {
  if (type === undefined || wanted === undefined || type === wanted) return true;
  return ((type === 'date' || type === 'plainText') && wanted === 'text') || (type === 'text' && wanted === 'timestamp');
}

function addTypeMistake(node: CelNode, types: readonly MaybeType[], { mistakes }: Typing): undefined {
  const name = callOf(node)?.name ?? '';
  const form = (CEL_OPERATORS.get(name) ?? CEL_FUNCTIONS.get(name))?.form ?? name;
  const given = types.map((type) => (type === undefined ? 'a value' : NAMES[type])).join(' and ');
  addMistake(mistakes, `"${form}" does not fit ${given}`, node);
  return undefined;
}
