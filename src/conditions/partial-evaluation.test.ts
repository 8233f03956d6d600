import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../test/budget.ts';
import { type Json, type JsonObject, type Kind, OPERATORS, ownValue, type Truth } from '../operators/index.ts';
import { parsePath } from './attribute-path.ts';
import { type Condition, type Operand, type Path, type PathKind, type Scope, UNRESOLVED } from './condition.ts';
import { compileOperand, resolveOperand } from './operand-values.ts';
import { evaluate, partiallyEvaluate } from './partial-evaluation.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.id', { kind: 'text' }],
  ['user.since', { kind: 'timestamp' }],
  ['user.teams', { kind: 'list', itemKind: 'text' }],
  ['resource.authorId', { kind: 'text' }],
  ['resource.editorId', { kind: 'text' }],
  ['resource.editors', { kind: 'list', itemKind: 'text' }],
  ['resource.size', { kind: 'number' }],
  ['resource.price', { kind: 'decimal' }],
  ['resource.at', { kind: 'timestamp' }],
  ['resource.extra', { kind: 'json' }],
]);
const VALUES: readonly (Json | undefined)[] = [
  undefined,
  ...['u1', 'u2', '', '10', '2026-01-31T12:00:00.000Z', '2026-01-31T13:00:00+01:00', 10, 9.5, '9.50', true, null],
  ...[[], ['u1'], ['u1', 'u2'], ['u2', null], [10], { a: 1 }],
];
const PATHS = [...KINDS.keys(), 'user.claim', 'user.claims', 'resource.extra.a'].map(pathAt);

const values = fc.constantFrom(...VALUES);
const worlds = fc.record({
  user: fc.record({ id: values, since: values, teams: values, claim: values, claims: values }),
  resource: fc.record({ authorId: values, editorId: values, editors: values, size: values, price: values, at: values, extra: values }),
});
const literals = values.map((value) => ({ type: 'literal' as const, value: value ?? null }));
const references = fc.constantFrom(...PATHS).map((path) => ({ type: 'reference' as const, path }));
const templates = fc.constantFrom(...PATHS).map((path) => ({ type: 'template' as const, parts: ['u', path] }));
const operands = fc.oneof(
  literals,
  references,
  references,
  templates,
  fc.array(fc.oneof(literals, references), { maxLength: 3 }).map((items) => ({ type: 'array' as const, items })),
);
const comparisons = fc.record({
  type: fc.constant('comparison' as const),
  path: fc.constantFrom(...PATHS),
  operator: fc.constantFrom(...OPERATORS.keys()),
  operand: operands,
  ifExists: fc.boolean(),
});
const { condition: conditions } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    comparisons,
    fc.record({ type: fc.constantFrom('all' as const, 'any' as const), of: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ type: fc.constant('not' as const), of: tie('condition') }),
  ),
}));

describe('partiallyEvaluate', () => {
  it('returns a residual condition with the same result for each record', () => {
    fc.assert(
      fc.property(conditions, worlds, (condition, world) => {
        const residual = partiallyEvaluate(condition, scopeOf(world, 'unresolved'));
        expect(evaluate(residual, scopeOf(world))).toBe(evaluate(condition, scopeOf(world)));
      }),
      { numRuns: casesOf(1000) },
    );
  });

  it('does not depend on earlier evaluations of the same condition', () => {
    fc.assert(
      fc.property(conditions, worlds, worlds, (condition, before, world) => {
        evaluate(condition, scopeOf(before));
        partiallyEvaluate(condition, scopeOf(before, 'unresolved'));
        expect(evaluate(condition, scopeOf(world))).toBe(evaluate(structuredClone(condition), scopeOf(world)));
      }),
      { numRuns: casesOf(300) },
    );
  });

  it('compares by the current definitions, not by earlier ones', () => {
    const condition: Condition = {
      type: 'comparison',
      path: pathAt('resource.at'),
      operator: 'eq',
      operand: { type: 'literal', value: '2026-01-31T13:00:00+01:00' },
      ifExists: false,
    };
    const world: World = { user: {}, resource: { at: '2026-01-31T12:00:00.000Z' } };
    const [older, newer, article, desk] = [{}, {}, {}, {}];
    const askedOf = (definitions: object, resource: object, kind: 'timestamp' | 'text' | undefined): Truth =>
      evaluate(condition, {
        ...scopeOf(world),
        kindOf: () => (kind === undefined ? undefined : { kind }),
        kindsFrom: { definitions, resource },
      });
    expect(askedOf(older, article, 'timestamp')).toBe(true);
    expect(askedOf(older, desk, 'text')).toBe(false);
    expect(askedOf(newer, desk, 'timestamp')).toBe(true);
    expect(askedOf(older, article, 'timestamp')).toBe(true);
    // With the same objects, `kindOf` is not called again.
    expect(askedOf(older, article, 'text')).toBe(true);
    expect(evaluate(condition, { ...scopeOf(world), kindOf: () => ({ kind: 'text' }) })).toBe(false);
  });

  it('returns a constant if every path is resolved', () => {
    fc.assert(fc.property(conditions, worlds, (condition, world) => partiallyEvaluate(condition, scopeOf(world)).type === 'constant'));
  });

  const turned: readonly [string, string, string, Json | undefined, string][] = [
    ['user.id', 'eq', 'resource.authorId', 'u1', 'resource.authorId eq "u1"'],
    ['user.id', 'ne', 'resource.authorId', 'u1', 'resource.authorId ne "u1"'],
    ['user.since', 'before', 'resource.at', '2026-01-31T12:00:00Z', 'resource.at after "2026-01-31T12:00:00Z"'],
    ['user.id', 'in', 'resource.editors', 'u1', 'resource.editors has "u1"'],
    ['user.teams', 'has', 'resource.authorId', ['u1'], 'resource.authorId in ["u1"]'],
    ['user.teams', 'hasAll', 'resource.editors', ['u1'], 'resource.editors subsetOf ["u1"]'],
  ];
  for (const [left, operator, right, value, expected] of turned) {
    it(`exchanges the sides of ${left} ${operator} \${${right}}`, () => {
      const world = { user: { [left.slice(5)]: value }, resource: {} };
      const residual = partiallyEvaluate(compare(left, operator, right), scopeOf(world, 'unresolved'));
      expect(residual).toMatchObject({ type: 'comparison', path: { text: right } });
      expect(
        residual.type === 'comparison' && `${residual.path.text} ${residual.operator} ${JSON.stringify(Object(residual.operand).value)}`,
      ).toBe(expected);
    });
  }

  it('expands an array with unresolved items', () => {
    const items = ['resource.authorId', 'resource.editorId'].map((text) => ({ type: 'reference' as const, path: pathAt(text) }));
    const condition: Condition = { ...compare('user.id', 'in', 'user.id'), operand: { type: 'array', items } };
    const residual = partiallyEvaluate(condition, scopeOf({ user: { id: 'u1' }, resource: {} }, 'unresolved'));
    expect(residual).toMatchObject({ type: 'any', of: [{ path: { text: 'resource.authorId' } }, { path: { text: 'resource.editorId' } }] });
  });

  const missing: readonly [string, Condition, Truth][] = [
    ['a missing left side is unknown', compare('user.id', 'eq', 'resource.authorId'), null],
    ['a missing left side with ifExists is false', { ...compare('user.id', 'eq', 'resource.authorId'), ifExists: true }, false],
    ['ifExists does not apply to a missing operand', { ...compare('resource.authorId', 'eq', 'user.id'), ifExists: true }, null],
    ['kinds that cannot be compared are unknown', compare('resource.size', 'eq', 'resource.at'), null],
  ];
  for (const [name, condition, truth] of missing) {
    it(`evaluates a comparison: ${name}`, () => {
      expect(evaluate(condition, scopeOf({ user: {}, resource: { authorId: 'u1', size: 1, at: '2026-01-31T12:00:00Z' } }))).toBe(truth);
    });
  }
});

interface World {
  readonly user: { readonly [key: string]: Json | undefined };
  readonly resource: { readonly [key: string]: Json | undefined };
}

function scopeOf(world: World, record?: 'unresolved'): Scope {
  return {
    now: Date.parse('2026-01-31T12:00:00Z'),
    timeZone: 'UTC',
    valueOf({ group, keys }) {
      if (group === 'resource' && record === 'unresolved') return UNRESOLVED;
      const of = group === 'user' || group === 'resource' ? (world[group] as JsonObject) : {};
      return keys.reduce<Json | undefined>((value, key) => ownValue(value, key), of);
    },
    kindOf: ({ text }) => KINDS.get(text),
  };
}

function compare(left: string, operator: string, right: string) {
  return {
    type: 'comparison',
    path: pathAt(left),
    operator,
    operand: { type: 'reference', path: pathAt(right) },
    ifExists: false,
  } as const;
}

function pathAt(text: string): Path {
  const parsed = parsePath(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.path;
}

const BY_PATH: ReadonlyMap<string, Json | typeof UNRESOLVED> = new Map<string, Json | typeof UNRESOLVED>([
  ['user.id', 'u1'],
  ['user.level', 3],
  ['user.nothing', null],
  ['user.teams', ['a']],
  ['resource.id', UNRESOLVED],
]);

const scope: Scope = {
  now: 0,
  timeZone: 'UTC',
  valueOf: ({ text }) => BY_PATH.get(text),
  kindOf: (): { readonly kind: Kind } | undefined => undefined,
};

const at = (text: string): Path => ({ group: 'user', keys: [text.slice(text.indexOf('.') + 1)], text });
const literal = (value: Json): Operand => ({ type: 'literal', value });
const reference = (text: string): Operand => ({ type: 'reference', path: at(text) });
const array = (...items: readonly Operand[]): Operand => ({ type: 'array', items });
const template = (...parts: readonly (string | Path)[]): Operand => ({ type: 'template', parts });

describe('resolveOperand', () => {
  const rows: readonly [what: string, operand: Operand, value: ReturnType<typeof resolveOperand>][] = [
    ['a literal', literal(3), 3],
    ['null', literal(null), null],
    ['a reference has the type of its value', reference('user.level'), 3],
    ['a reference to a missing value', reference('user.gone'), undefined],
    ['a reference to an unresolved value', reference('resource.id'), UNRESOLVED],
    ['an array of literals', array(literal(1), literal('2')), [1, '2']],
    ['an empty array', array(), []],
    ['an array of both, in order', array(literal(1), reference('user.id'), literal(2)), [1, 'u1', 2]],
    ['an array with a reference to a missing value', array(reference('user.gone'), literal(1)), [{}, 1]],
    ['an array with null', array(reference('user.nothing')), [null]],
    ['an array with an unresolved item', array(literal(1), reference('resource.id')), UNRESOLVED],
    ['arrays in arrays', array(array(literal(1)), literal(2)), [[1], 2]],
    ['a text with references in it', template('u-', at('user.id'), '-', at('user.level')), 'u-u1-3'],
    ['a text with a missing value', template('u-', at('user.gone')), undefined],
    ['a text with null', template(at('user.nothing'), 'x'), undefined],
    ['a text with a list', template(at('user.teams'), 'x'), undefined],
    ['a text with an unresolved value', template('x', at('resource.id')), UNRESOLVED],
  ];
  it.each(rows)('resolves an operand: %s', (_, operand, value) => {
    expect(resolveOperand(operand, scope)).toEqual(value);
  });

  it('returns the same list for an array of literals each time', () => {
    const resolve = compileOperand(array(literal('a'), literal('b')));
    expect(resolve(scope)).toBe(resolve(scope));
  });
});
