import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject, ownValue, type Truth } from '../operators/index.ts';
import { type Condition, type Path, type RelatedLookup, type Scope, UNRESOLVED } from './condition.ts';
import { conditionKey } from './condition-key.ts';
import type { ConditionParserOptions } from './condition-parser.ts';
import { conditionPaths, readsOtherRecords, someIn } from './condition-paths.ts';
import { explainCondition, printCondition } from './explain-condition.ts';
import { parseConditions } from './parse-condition.ts';
import { evaluate, partiallyEvaluate } from './partial-evaluation.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

/** The lists of references by their path from a user, a team or a document. */
const LISTS: Readonly<Record<string, string>> = { teamIds: 'Team', memberIds: 'User' };

/** Returns the lists that a path follows. */
function listsOf(keys: readonly string[]): readonly { readonly length: number; readonly resource: string }[] {
  return keys
    .slice(0, -1)
    .flatMap((key, index) => (LISTS[key] === undefined ? [] : [{ length: index + 1, resource: LISTS[key] as string }]));
}

const OPTIONS: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: { ...SMALL_LIMITS, relatedRecords: 3 },
  describePath: ({ keys }) => kindOf(keys),
  listsOf: ({ keys }) => listsOf(keys),
  describeRelated: () => ({ describe: kindOf, listsOf }),
};

function kindOf(keys: readonly string[]): { readonly kind: 'text' | 'number' } | { readonly kind: 'list'; readonly itemKind: 'text' } {
  const last = keys.at(-1) ?? '';
  if (last.endsWith('Ids') || last === 'tags') return { kind: 'list', itemKind: 'text' };
  return { kind: last === 'level' ? 'number' : 'text' };
}

const parse = (condition: JsonObject): ReturnType<typeof parseConditions> => parseConditions([condition], OPTIONS);
const is = (field: string, value: Json, operator = 'eq'): JsonObject => ({ field, operator, value });

const RECORDS: Readonly<Record<string, JsonObject>> = {
  'Team t1': { name: 'news', label: 'sports', tags: ['a'], memberIds: ['u1', 'u2'] },
  'Team t2': { name: 'sports', label: 'x' },
  'User u1': { name: 'Ann' },
  'User u2': { name: 'Ben' },
};

/** Creates the scope of a document with the given lists; of any document if absent. */
function scopeOf(document: JsonObject | undefined, user: JsonObject = {}): Scope {
  const related: RelatedLookup = {
    find: () => [],
    ancestors: () => 'unknown',
    item({ resource }, id) {
      const found = RECORDS[`${resource} ${id}`];
      return found && { id, valueOf: ([key = '']: readonly string[]): Json | undefined => ownValue(found, key) };
    },
    kindOf: (_, keys) => kindOf(keys),
  };
  return {
    related,
    now: 0,
    timeZone: 'UTC',
    kindOf: ({ keys }) => kindOf(keys),
    valueOf({ group, keys: [key = ''] }) {
      if (group === 'user') return ownValue(user, key);
      return document === undefined ? UNRESOLVED : ownValue(document, key);
    },
  };
}

describe('a path through a list of references', () => {
  const inNews = is('resource.teamIds.name', 'news');
  it.each<readonly [name: string, condition: JsonObject, teamIds: Json | undefined, expected: Truth]>([
    ['of which one matches', inNews, ['t2', 't1'], true],
    ['of which none matches', inNews, ['t2'], false],
    ['without items', inNews, [], false],
    ['with an item that leads to no record', inNews, ['t2', 'gone'], null],
    ['with an item that leads to no record beside one that matches', inNews, ['gone', 't1'], true],
    ['that has no value', inNews, undefined, null],
    ['that is no list', inNews, 't1', null],
    ['with an item that is no id', inNews, [5], null],
    ['with as many items as are read', inNews, ['t1', 't1', 't1'], true],
    ['with more items', inNews, ['t1', 't1', 't1', 't1'], null],
    ['with a missing value, and ifExists', { ...inNews, ifExists: true }, ['gone'], false],
    ['negated', { not: inNews }, ['t2'], true],
    ['negated, with a record that is missing', { not: inNews }, ['t2', 'gone'], null],
    ['in a template', is('resource.title', '${resource.teamIds.name} team'), ['t1'], true],
    ['on the right side', is('resource.title', ['${resource.teamIds.name} team', 'x'], 'in'), ['t2', 't1'], true],
    ['on both sides of one record', is('resource.teamIds.name', '${resource.teamIds.label}'), ['t1', 't2'], false],
    ['that ends at a list', is('resource.teamIds.tags', 'a', 'has'), ['t1'], true],
    ['through a list of its records', is('resource.teamIds.memberIds.name', 'Ben'), ['t1'], true],
    ['through a list that one of its records does not have', is('resource.teamIds.memberIds.name', 'x'), ['t1', 't2'], null],
    ['in an expression', { expression: 'resource.teamIds.name == "news"' }, ['t1'], true],
    ['in a negated expression', { expression: '!(resource.teamIds.name == "news")' }, ['t2'], true],
  ])('compares the records of a list %s', (_, condition, teamIds, expected) => {
    const parsed = parse(condition);
    expect(parsed.issues).toEqual([]);
    expect(evaluate(parsed.condition, scopeOf({ title: 'news team', ...(teamIds !== undefined && { teamIds }) }))).toBe(expected);
  });

  it('a path through a list is unknown until the records are loaded, and asks for all of them', () => {
    const asked: string[] = [];
    const related: RelatedLookup = {
      ...(scopeOf({}).related as RelatedLookup),
      item(_, id) {
        asked.push(id);
        return 'unknown';
      },
    };
    expect(evaluate(parse(inNews).condition, { ...scopeOf({ teamIds: ['t1', 't2'] }), related })).toBe(null);
    expect(asked).toEqual(['t1', 't2']);
  });

  it('keeps a list that is not known, with the values that are known', () => {
    const { condition } = parse(is('resource.teamIds.name', '${user.name}'));
    const residual = partiallyEvaluate(condition, scopeOf(undefined, { name: 'news' }));
    expect([residual.type, printCondition(residual)]).toEqual(['some', 'resource.teamIds.name eq "news"']);
    expect(evaluate(residual, scopeOf({ teamIds: ['t1'] }))).toBe(true);
  });

  it('replaces a list of the caller by the values of its records', () => {
    const { condition } = parse(is('user.teamIds.memberIds', '${resource.ownerId}', 'has'));
    const residual = partiallyEvaluate(condition, scopeOf(undefined, { teamIds: ['t1'] }));
    expect(printCondition(residual)).toBe('resource.ownerId in ["u1", "u2"]');
  });

  it.each<readonly [comparison: string, condition: JsonObject]>([
    ['whose sides cannot be exchanged', is('user.teamIds.name', '${resource.title}', 'ncontains')],
    ['with a template', is('resource.title', '${user.teamIds.name} ${resource.part}')],
  ])('keeps a list of the caller in a comparison %s', (_, condition) => {
    const residual = partiallyEvaluate(parse(condition).condition, scopeOf(undefined, { teamIds: ['t1'] }));
    expect(residual.type).toBe('some');
    const truthOf = (title: string): Truth => evaluate(residual, scopeOf({ title, part: 'x' }, { teamIds: ['t1'] }));
    expect([truthOf('news x'), truthOf('new')]).toEqual([true, false]);
  });

  it('reads the list, and not the fields of its records, of the record that is decided', () => {
    const { condition } = parse(is('resource.teamIds.memberIds.name', '${user.name}'));
    expect(conditionPaths(condition).map(({ text }) => text)).toEqual(['resource.teamIds', 'user.name']);
    expect(someIn(condition).map(({ as, resource }) => [as, resource])).toEqual([
      ['resource.teamIds', 'Team'],
      ['resource.teamIds.memberIds', 'User'],
    ]);
    expect(readsOtherRecords(condition)).toBe(true);
  });

  it('a path through a list has the key of the same comparison only', () => {
    const keyOf = (field: string): string => conditionKey(parse(is(field, 'news')).condition);
    expect(keyOf('resource.teamIds.name')).toBe(keyOf('resource.teamIds.name'));
    expect(new Set(['resource.teamIds.name', 'user.teamIds.name', 'resource.teamIds.title', 'resource.team.name'].map(keyOf)).size).toBe(4);
  });

  it('belongs to the records of a condition on related records', () => {
    const where = [is('m.teamIds.name', 'news')];
    const { condition, issues } = parse({ related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}' }, where } });
    expect(issues).toEqual([]);
    const [found] = someIn(condition);
    expect([found?.path.keys, found?.as]).toEqual([['m', 'teamIds'], 'm.teamIds']);
  });
});

describe('the explanation of a path through a list', () => {
  const explain = (condition: Condition, teamIds: readonly string[]): JsonObject =>
    explainCondition(condition, scopeOf({ teamIds })) as unknown as JsonObject;

  it('names the record that matches first', () => {
    const trace = explain(parse(is('resource.teamIds.name', 'news')).condition, ['t2', 't1', 'gone']);
    expect(trace).toMatchObject({
      ...{ type: 'related', resource: 'Team', list: 'resource.teamIds', answer: 'true', counts: { true: 1, false: 1, unknown: 1 } },
      on: [{ field: 'id', expected: ['t2', 't1', 'gone'] }],
      records: [
        { id: 't1', answer: 'true', where: { field: 'resource.teamIds.name', actual: 'news' } },
        { id: 't2', answer: 'false', where: { actual: 'sports' } },
        { id: 'gone', missing: true, answer: 'unknown', where: { missing: true } },
      ],
    });
  });

  it('shows a record that a list has twice once', () => {
    const trace = explain(parse(is('resource.teamIds.name', 'news')).condition, ['t2', 't2']);
    expect(trace).toMatchObject({ counts: { true: 0, false: 1, unknown: 0 }, records: [{ id: 't2' }] });
  });

  it('the explanation has the limit and no records if there are more items than are read', () => {
    const trace = explain(parse(is('resource.teamIds.name', 'news')).condition, ['t1', 't2', 't1', 't2']);
    expect([trace['answer'], trace['moreThan'], isObject(trace) && 'records' in trace]).toEqual(['unknown', 3, false]);
  });

  it('the explanation has the comparison if there are no records, or none that is known', () => {
    const { condition } = parse(is('resource.teamIds.name', 'news'));
    const where = { field: 'resource.teamIds.name', expected: 'news', answer: 'open' };
    expect(explain(condition, [])).toMatchObject({ answer: 'false', records: [], where });
    expect(explainCondition(condition, scopeOf(undefined))).toMatchObject({ type: 'related', answer: 'open', where });
  });
});

describe('mistakes with paths through lists', () => {
  it.each<readonly [string, JsonObject, string, string]>([
    ['an expression that computes', { expression: 'resource.teamIds.name + "x" == resource.title' }, 'at.0.expression', 'expression'],
    ['an expression that computes a value', { expression: 'resource.title == user.teamIds.name + "x"' }, 'at.0.expression', 'expression'],
    ['a loop', { expression: 'resource.tags.exists(t, t == resource.teamIds.name + "x")' }, 'at.0.expression', 'expression'],
    ['a link', { related: { resource: 'Membership', as: 'm', on: { teamId: '${user.teamIds.name}' } } }, 'at.0.related.on.teamId', 'value'],
  ])('refuses a path through a list in %s', (_, condition, path, code) => {
    expect(parse(condition).issues).toMatchObject([{ path, code }]);
  });

  it('gives a path through a list the text of the path that was written', () => {
    const { condition } = parse(is('resource.teamIds.memberIds.name', 'Ann'));
    const inner = someIn(condition).at(-1)?.where as { readonly path: Path };
    expect(inner.path).toMatchObject({ group: 'related', text: 'resource.teamIds.memberIds.name' });
    // A path of the record with the same text is another path.
    const plain = parseConditions([is('resource.teamIds.memberIds', 'x', 'has')], { ...OPTIONS, listsOf: () => [] }).condition;
    expect(conditionPaths(plain)[0]?.group).toBe('resource');
  });
});
