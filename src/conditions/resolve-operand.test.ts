import { describe, expect, it } from 'vitest';
import type { Json, Kind } from '../operators/index.ts';
import { OPEN, type Operand, type Path, type Scope } from './condition.ts';
import { resolveOperand, toResolve } from './resolve-operand.ts';

const VALUES: ReadonlyMap<string, Json | typeof OPEN> = new Map<string, Json | typeof OPEN>([
  ['user.id', 'u1'],
  ['user.level', 3],
  ['user.nothing', null],
  ['user.teams', ['a']],
  ['resource.id', OPEN],
]);

const scope: Scope = {
  now: 0,
  timeZone: 'UTC',
  valueOf: ({ text }) => VALUES.get(text),
  kindOf: (): { readonly kind: Kind } | undefined => undefined,
};

const at = (text: string): Path => ({ group: 'user', keys: [text.slice(text.indexOf('.') + 1)], text });
const literal = (value: Json): Operand => ({ type: 'literal', value });
const reference = (text: string): Operand => ({ type: 'reference', path: at(text) });
const array = (...items: readonly Operand[]): Operand => ({ type: 'array', items });
const template = (...parts: readonly (string | Path)[]): Operand => ({ type: 'template', parts });

describe('an operand', () => {
  const rows: readonly [what: string, operand: Operand, value: ReturnType<typeof resolveOperand>][] = [
    ['a literal', literal(3), 3],
    ['null', literal(null), null],
    ['a reference keeps its type', reference('user.level'), 3],
    ['a reference to nothing', reference('user.gone'), undefined],
    ['a reference to what is open', reference('resource.id'), OPEN],
    ['an array of literals', array(literal(1), literal('2')), [1, '2']],
    ['an empty array', array(), []],
    ['an array of both, in order', array(literal(1), reference('user.id'), literal(2)), [1, 'u1', 2]],
    ['an array with a reference to nothing, which compares with nothing', array(reference('user.gone'), literal(1)), [{}, 1]],
    ['an array with null', array(reference('user.nothing')), [null]],
    ['an array with what is open', array(literal(1), reference('resource.id')), OPEN],
    ['arrays in arrays', array(array(literal(1)), literal(2)), [[1], 2]],
    ['a text with references in it', template('u-', at('user.id'), '-', at('user.level')), 'u-u1-3'],
    ['a text with nothing in it', template('u-', at('user.gone')), undefined],
    ['a text with null in it', template(at('user.nothing'), 'x'), undefined],
    ['a text with a list in it', template(at('user.teams'), 'x'), undefined],
    ['a text with what is open in it', template('x', at('resource.id')), OPEN],
  ];
  it.each(rows)('%s', (_, operand, value) => {
    expect(resolveOperand(operand, scope)).toEqual(value);
  });

  it('of literals alone is the same list every time', () => {
    const resolve = toResolve(array(literal('a'), literal('b')));
    expect(resolve(scope)).toBe(resolve(scope));
  });
});
