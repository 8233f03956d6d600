import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, ownValue, type Truth } from '../operators/index.ts';
import { type Ancestors, type Condition, type PathKind, type Scope, UNRESOLVED } from './condition.ts';
import { conditionKey } from './condition-key.ts';
import type { ConditionParserOptions } from './condition-parser.ts';
import { conditionPaths } from './condition-paths.ts';
import { explainCondition, printCondition } from './explain-condition.ts';
import { parseConditions } from './parse-condition.ts';
import { evaluate, partiallyEvaluate } from './partial-evaluation.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

const FOLDER: PathKind = { kind: 'text', hierarchy: { resource: 'Folder' } };
const KINDS: Readonly<Record<string, PathKind>> = {
  'resource.folderId': FOLDER,
  'resource.parentId': FOLDER,
  'resource.id': { kind: 'text', hierarchy: { resource: 'Folder', parent: 'parentId' } },
  'resource.title': { kind: 'text' },
  'resource.size': { kind: 'number' },
  'resource.labels': { kind: 'list', itemKind: 'text' },
  'user.folderId': FOLDER,
};

const OPTIONS: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: SMALL_LIMITS,
  domainOf: () => undefined,
  describePath: ({ text }) => KINDS[text] ?? (text.startsWith('user.') ? 'any' : { problem: `${text} does not exist` }),
};
const parse = (condition: JsonObject) => parseConditions([condition], OPTIONS);
const within = (value: Json, field = 'resource.folderId', ifExists = false): JsonObject => ({ field, operator: 'within', value, ifExists });
const conditionOf = (condition: JsonObject): Condition => {
  const { condition: parsed, issues } = parse(condition);
  expect(issues).toEqual([]);
  return parsed;
};

/** Records by id: c lies in b, which lies in a; lost lies in a record that does not exist; the long chain has 40 levels. */
const PARENTS: Readonly<Record<string, string | undefined>> = {
  a: undefined,
  b: 'a',
  c: 'b',
  lost: 'gone',
  ring1: 'ring2',
  ring2: 'ring1',
  ...Object.fromEntries(Array.from({ length: 40 }, (_, level) => [`l${level}`, level === 0 ? undefined : `l${level - 1}`])),
};

function ancestorsOf(id: string): Ancestors {
  const ids: string[] = [];
  for (let next: string | undefined = id; next !== undefined; next = PARENTS[next]) {
    if (!Object.hasOwn(PARENTS, next)) return { ids, end: 'missing' };
    if (ids.length === 32) return { ids, end: 'limit' };
    ids.push(next);
  }
  return { ids, end: 'root' };
}

/** Creates the scope of a record and a user; the record is not known if absent. */
function scopeOf(resource: JsonObject | undefined, user: JsonObject = {}): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    related: { find: () => 'unknown', item: () => 'unknown', ancestors: (_, id) => ancestorsOf(id), kindOf: () => undefined },
    kindOf: ({ text }) => KINDS[text],
    valueOf({ group, keys: [key = ''] }) {
      if (group === 'user') return ownValue(user, key);
      return resource === undefined ? UNRESOLVED : ownValue(resource, key);
    },
  };
}

describe('a condition on ancestors', () => {
  it.each<readonly [name: string, value: Json, record: JsonObject, result: Truth]>([
    ['the record itself', 'c', { folderId: 'c' }, true],
    ['an ancestor', 'a', { folderId: 'c' }, true],
    ['one of several ids', ['x', 'b'], { folderId: 'c' }, true],
    ['a descendant', 'c', { folderId: 'b' }, false],
    ['none', ['x'], { folderId: 'c' }, false],
    ['no ids', [], { folderId: 'c' }, false],
    ['an id of another type', ['x', '${user.level}'], { folderId: 'c' }, null],
    ['an id of another type beside an ancestor', ['a', '${user.level}'], { folderId: 'c' }, true],
    ['an id that is missing', ['x', '${user.nothing}'], { folderId: 'c' }, null],
    ['ids that are missing', '${user.nothing}', { folderId: 'c' }, null],
    ['a number', '${user.level}', { folderId: 'c' }, null],
    ['a list in a list', ['${user.ids}'], { folderId: 'c' }, null],
    ['a list', '${user.ids}', { folderId: 'c' }, true],
    ['null', '${user.none}', { folderId: 'c' }, null],
    ['a missing field', 'a', {}, null],
    ['a record below a broken chain', 'a', { folderId: 'lost' }, null],
    ['a match below a broken chain', 'lost', { folderId: 'lost' }, true],
    ['no ids at a broken chain', [], { folderId: 'lost' }, null],
    ['a record that does not exist', 'gone', { folderId: 'gone' }, null],
    ['a cycle', 'a', { folderId: 'ring1' }, null],
    ['a match in a cycle', 'ring2', { folderId: 'ring1' }, true],
    ['the top of 32 levels', 'x', { folderId: 'l31' }, false],
    ['a record below 32 levels', 'x', { folderId: 'l32' }, null],
    ['the 32nd level', 'l1', { folderId: 'l32' }, true],
    ['the 33rd level', 'l0', { folderId: 'l32' }, null],
  ])('a condition on ancestors compares %s', (_, value, record, result) => {
    const scope = scopeOf(record, { level: 5, none: null, ids: ['a'] });
    expect(evaluate(conditionOf(within(value)), scope)).toBe(result);
    expect(evaluate(conditionOf({ not: within(value) }), scope)).toBe(result === null ? null : !result);
  });

  it('a missing field makes it false with ifExists', () => {
    expect(evaluate(conditionOf(within('a', 'resource.folderId', true)), scopeOf({}))).toBe(false);
  });

  it('the id of the record itself begins with its proposed parent', () => {
    const isWithin = (id: string, parentId?: string) =>
      evaluate(conditionOf(within(['a', 'new'], 'resource.id')), scopeOf({ id, ...(parentId !== undefined && { parentId }) }));
    expect([isWithin('new'), isWithin('other', 'c'), isWithin('other'), isWithin('other', 'gone')]).toEqual([true, true, false, null]);
    const top = (parentId: string) => evaluate(conditionOf(within('l0', 'resource.id')), scopeOf({ id: 'new', parentId }));
    expect([top('l30'), top('l31')]).toEqual([true, null]);
    expect(conditionPaths(conditionOf(within('a', 'resource.id'))).map(({ text }) => text)).toEqual(['resource.id', 'resource.parentId']);
  });

  it.each<readonly [condition: JsonObject, residual: string]>([
    [within('${user.roots}'), 'resource.folderId within ["a"]'],
    [within('${user.nothing}'), 'unknown'],
    [within('${user.level}'), 'unknown'],
    [within(['${user.own}', '${resource.title}']), 'resource.folderId within ["a"] or resource.folderId within [${resource.title}]'],
    [within('${resource.title}', 'user.folderId'), 'resource.title in ["c", "b", "a"]'],
    [within('${resource.labels}', 'user.folderId'), 'resource.labels hasAny ["c", "b", "a"]'],
    [within('${resource.title}', 'user.lostId'), 'unknown'],
  ])('an unknown record leaves %j as a residual condition', (condition, residual) => {
    const user = { roots: ['a'], level: 5, own: 'a', folderId: 'c' };
    const parsed = parseConditions([condition], {
      ...OPTIONS,
      describePath: ({ text }) => KINDS[text] ?? (text === 'user.lostId' ? FOLDER : 'any'),
    });
    expect(printCondition(partiallyEvaluate(parsed.condition, scopeOf(undefined, user)))).toBe(residual);
  });

  it('ancestors of the user that end early never make the residual condition false', () => {
    const residual = partiallyEvaluate(conditionOf(within('${resource.title}', 'user.folderId')), scopeOf(undefined, { folderId: 'lost' }));
    expect([evaluate(residual, scopeOf({ title: 'lost' })), evaluate(residual, scopeOf({ title: 'x' }))]).toEqual([true, null]);
  });

  it('conditions with other sides have other keys', () => {
    const conditions = [within('a'), within('b'), within('a', 'resource.id'), within('a', 'resource.folderId', true)].map(conditionOf);
    expect(new Set(conditions.map(conditionKey)).size).toBe(conditions.length);
  });

  it.each<readonly [record: JsonObject, ancestors: JsonObject]>([
    [{ folderId: 'c' }, { resource: 'Folder', ids: ['c', 'b', 'a'], matched: 'b', end: 'root' }],
    [{ folderId: 'lost' }, { resource: 'Folder', ids: ['lost'], end: 'missing' }],
    [{ folderId: 'ring1' }, { resource: 'Folder', ids: ['ring1', 'ring2'], end: 'cycle' }],
    [{ folderId: 'l39' }, { resource: 'Folder', ids: expect.objectContaining({ length: 32 }), end: 'limit' }],
  ])('an explanation of %j names the compared records', (record, ancestors) => {
    expect(explainCondition(conditionOf(within(['b'])), scopeOf(record))).toMatchObject({
      type: 'comparison',
      operator: 'within',
      ancestors,
    });
  });
});

describe('toWithin', () => {
  it.each<readonly [name: string, condition: JsonObject, path: string, detail: RegExp]>([
    ['a field that is no reference', within('a', 'resource.title'), 'operator', /does not fit resource.title.*hierarchy: true/],
    ['a path of any kind', within('a', 'user.badge'), 'operator', /may be anything/],
    ['a number', within(5), 'value', /id or a list of ids, given 5/],
    ['an empty text', within(['a', '']), 'value', /item 1: expected an id/],
    ['null', within(null), 'value', /expected an id/],
    ['a field of another kind', within('${resource.size}'), 'value', /resource.size, which is number/],
    ['a list in a list', within(['${resource.labels}']), 'value', /item 0: expected an id, given resource.labels, which is a list/],
    ['a field that does not exist', within('${resource.nothing}'), 'value', /does not exist/],
    ['a reference of another product', within('{{user.id}}'), 'value', /a reference is written \$\{user.id\}/],
    ['a misspelt operator', { ...within('a'), operator: 'withn' }, 'operator', /did you mean "within"/],
  ])('toWithin reports %s, and the condition is unknown', (_, condition, path, detail) => {
    const { issues, condition: parsed } = parse(condition);
    expect(issues).toMatchObject([{ path: `at.0.${path}`, detail: expect.stringMatching(detail) }]);
    expect(parsed).toEqual({ type: 'constant', value: null });
  });
});

describe('lowerWithin', () => {
  const says = (expression: string) => parse({ expression });

  it.each([
    ['resource.folderId.within(user.roots)', 'resource.folderId within ${user.roots}'],
    [
      '!resource.id.within("a") && resource.folderId.within(["a", user.own])',
      'not resource.id within "a" and resource.folderId within ["a", ${user.own}]',
    ],
  ])('lowerWithin lowers %s to a condition on ancestors', (expression, printed) => {
    const { condition, issues } = says(expression);
    expect(issues).toEqual([]);
    expect(printCondition(condition)).toBe(printed);
  });

  it.each([
    ['resource.title.within("a")', /does not fit resource.title/],
    ['resource.folderId.within()', /expected a path, and an id/],
    ['resource.folderId.within("a", "b")', /expected a path, and an id/],
    ['within(resource.folderId, "a")', /expected a path, and an id/],
    ['resource.folderId.within("a") == true', /stands alone/],
    ['resource.labels.exists(l, resource.folderId.within(l))', /stands alone/],
    ['resource.size > 1 ? resource.folderId.within("a") : false', /stands alone/],
  ])('lowerWithin refuses %s, and the condition is unknown', (expression, detail) => {
    const { condition, issues } = says(expression);
    expect(issues.map((issue) => issue.detail).join()).toMatch(detail);
    expect(condition).toEqual({ type: 'constant', value: null });
  });
});
