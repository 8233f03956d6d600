import { describe, expect, it } from 'vitest';
import { fromLocalTime, toLocalTime } from '../local-time.ts';
import { CATALOGUE } from './catalogue.fixture.ts';
import { findPath, groupPaths, pathsFor } from './condition-paths.ts';
import { describeConditions } from './condition-sentences.ts';
import { createItemKeys, moveItem, removeAt } from './list-edits.ts';
import { initialValue, keepValue, operandForm, operatorsFor, readDuration, toItem, wantedForm } from './operand-forms.ts';
import { parseAny, printAny } from './value-text.ts';

const article = pathsFor(CATALOGUE, 'Article');
const operator = (name: string) => CATALOGUE.operators.find((each) => each.name === name);

describe('paths of conditions', () => {
  it('offers the fields of the resource and of the records that they refer to, and no secret ones', () => {
    const itemsOf = (name: string) => groupPaths(article).find(({ group }) => group === name)?.items;
    expect(itemsOf('resource')).toEqual([
      'resource.name',
      'resource.status',
      'resource.views',
      'resource.tags',
      'resource.authorId',
      'resource.parentId',
      'resource.relatedIds',
      'resource.createdBy',
      'resource.extra',
    ]);
    expect(itemsOf('resource, through references')).toEqual(
      expect.arrayContaining(['resource.authorId.email', 'resource.createdBy.status', 'resource.parentId.views']),
    );
  });

  it('offers paths through lists of references, also behind other references', () => {
    expect(findPath(article, 'resource.relatedIds.views')).toMatchObject({ kind: 'number' });
    expect(findPath(article, 'resource.parentId.relatedIds.authorId.email')).toMatchObject({ kind: 'text' });
  });

  it('offers paths through as many references as conditions follow, and a limited number of paths', () => {
    expect(findPath(article, `resource.${'parentId.'.repeat(4)}views`)).toMatchObject({ kind: 'number' });
    expect(findPath(article, `resource.${'parentId.'.repeat(5)}views`)).toBeUndefined();
    expect(findPath(article, 'resource.parentId.createdBy.email')).toMatchObject({ kind: 'text' });
    const references = Array.from({ length: 100 }, (_, nth) => ({
      ...CATALOGUE.definitions[0]?.fields[4],
      name: `to${nth}`,
      to: 'Article',
    }));
    const tangled = { ...CATALOGUE, definitions: [{ ...CATALOGUE.definitions[0], fields: references }] } as typeof CATALOGUE;
    expect(pathsFor(tangled, 'Article').length).toBeLessThan(50_000);
  });

  it.each([
    ['resource.status', { kind: 'text', values: ['draft', 'published'] }],
    ['resource.tags', { kind: 'list', itemKind: 'text' }],
    ['resource.authorId', { kind: 'text', to: 'User' }],
    ['resource.authorId.email', { kind: 'text' }],
    ['resource.extra.a.b', { kind: undefined }],
    ['request.data.status', { kind: undefined }],
    ['user.claims.team', { kind: undefined }],
  ])('describes %s', (path, expected) => expect(findPath(article, path)).toMatchObject(expected));

  it.each(['resource.secret', 'resource.stauts', 'resource.status.length'])('does not know %s', (path) =>
    expect(findPath(article, path)).toBeUndefined(),
  );

  it('does not give a kind to fields of all resources whose kinds differ', () => {
    expect(findPath(pathsFor(CATALOGUE, '*'), 'resource.status')).toEqual({ path: 'resource.status', kind: undefined });
    expect(findPath(pathsFor(CATALOGUE, '_Decision'), 'resource.allowed')).toMatchObject({ kind: 'boolean' });
  });
});

describe('operands of conditions', () => {
  it('offers the operators that fit the kind of the path', () => {
    const names = (path: string) => operatorsFor(CATALOGUE, findPath(article, path)).map(({ name }) => name);
    expect(names('resource.tags')).toEqual(['has', 'exists']);
    expect(names('resource.views')).toEqual(['eq', 'in', 'between', 'exists']);
    // A condition on ancestors needs a path to a record of a hierarchy.
    expect(names('user.claims')).toEqual(CATALOGUE.operators.map(({ name }) => name).filter((name) => name !== 'within'));
  });

  it.each([
    ['eq', 'resource.status', 'draft', 'choice'],
    ['eq', 'resource.status', 'gone', 'choice'],
    ['eq', 'resource.status', ['draft'], 'json'],
    ['eq', 'resource.status', '${user.role}', 'reference'],
    ['eq', 'resource.views', 7, 'number'],
    ['eq', 'resource.views', '7', 'json'],
    ['eq', 'resource.authorId', 'id', 'record'],
    ['has', 'resource.tags', 'press', 'text'],
    ['in', 'resource.status', ['draft'], 'choices'],
    ['in', 'resource.views', [1, '${user.id}'], 'list'],
    ['in', 'resource.views', [[1]], 'json'],
    ['between', 'resource.views', [1, 2], 'range'],
    ['between', 'resource.views', [1], 'json'],
    ['between', 'resource.views', ['', 2], 'range'],
    ['between', 'resource.views', ['${user.level}', 20], 'json'],
    ['between', 'resource.views', [1, '20'], 'json'],
    ['between', 'environment.timestamp', ['2026-01-31T09:00:00Z', '2026-02-01T09:00:00Z'], 'range'],
    ['between', 'environment.timestamp', ['2026-01-31T09:00:00Z', '2026-02-01T09:00:00.123Z'], 'json'],
    ['exists', 'resource.views', true, 'boolean'],
    ['withinLast', 'environment.timestamp', '24h', 'duration'],
    ['withinLast', 'environment.timestamp', 'PT30M', 'json'],
    ['dayOfWeekIn', 'environment.timestamp', [1, 7], 'daysOfWeek'],
    ['cidr', 'resource.name', '10.0.0.0/8', 'networks'],
    ['eq', 'environment.timestamp', '2026-01-31T09:00:00Z', 'instant'],
    ['eq', 'environment.timestamp', '2026-01-31T09:00:00.123+01:00', 'json'],
    ['eq', 'user.claims', 'x', 'json'],
    ['gone', 'user.claims', 'x', 'json'],
  ])('shows the value of %s on %s: %j by the editor %s', (name, path, value, form) =>
    expect(operandForm(operator(name), findPath(article, path), value)).toBe(form),
  );

  it('shows a list of booleans, and a text with a line break as JSON', () => {
    const agreed = { path: 'resource.agreed', kind: 'boolean' } as const;
    expect(operandForm(operator('in'), agreed, [true, false])).toBe('list');
    expect(operandForm(operator('has'), findPath(article, 'resource.tags'), 'one\ntwo')).toBe('json');
    expect(printAny('one\r\ntwo')).toBe('"one\\r\\ntwo"');
  });

  it('starts each editor with a value that it shows', () => {
    for (const each of CATALOGUE.operators)
      for (const option of article) {
        const value = initialValue(each, option);
        expect([each.name, option.path, operandForm(each, option, value)]).toEqual([each.name, option.path, wantedForm(each, option)]);
      }
  });

  it.each(['resource.status', 'resource.views'])(
    'starts the value of %s empty, so that no value is stored without being chosen',
    (path) => {
      const option = findPath(article, path);
      expect(keepValue(operator('eq'), option, '')).toBe('');
      expect(operandForm(operator('eq'), option, '')).not.toBe('json');
    },
  );

  it('keeps a value that the editor of another operator shows', () => {
    const views = findPath(article, 'resource.views');
    expect(keepValue(operator('eq'), views, 7)).toBe(7);
    expect(keepValue(operator('in'), views, 7)).toEqual([]);
    expect(keepValue(operator('exists'), views, '${user.id}')).toBe('${user.id}');
  });

  it('reads and writes durations, instants and items', () => {
    expect(readDuration('30m')).toEqual({ amount: 30, unit: 'm' });
    expect(readDuration('PT30M')).toBeUndefined();
    for (const instant of ['2026-01-31T09:00:00Z', '2026-07-01T23:59:59Z']) expect(fromLocalTime(toLocalTime(instant) ?? '')).toBe(instant);
    expect([toItem('7', 'number'), toItem('7', 'text'), toItem('${user.id}', 'number')]).toEqual([7, '7', '${user.id}']);
    expect(['true', 'false', 'yes', '${user.ok}'].map((text) => toItem(text, 'boolean'))).toEqual([true, false, 'yes', '${user.ok}']);
  });

  it.each([['draft'], ['7'], [7], [true], ['true'], [null], [[1, 'a']], [{ a: 1 }], [''], ['"x"'], ['1.'], ['one\ntwo']])(
    'shows %j as text without loss',
    (value) => expect(parseAny(printAny(value))).toEqual(value),
  );
});

describe('sentences of conditions', () => {
  it.each<[readonly unknown[], string]>([
    [[], 'always'],
    [[{ field: 'resource.status', operator: 'eq', value: 'draft' }], 'resource.status is "draft"'],
    [
      [{ field: 'status', context: 'resource', operator: 'eq', value: '${user.role}', ifExists: true }],
      'resource.status is user.role (false if missing)',
    ],
    [[{ field: 'resource.views', operator: 'exists', value: false }], 'resource.views has no value'],
    [[{ field: 'resource.views', operator: 'between', value: [1, 2] }], 'resource.views is between 1 and 2'],
    [
      [{ field: 'environment.timestamp', operator: 'dayOfWeekIn', value: [1, 7] }],
      'environment.timestamp is on a day of the week among Monday, Sunday',
    ],
    [[{ field: 'environment.timestamp', operator: 'withinLast', value: '7d' }], 'environment.timestamp is within the last 7d'],
    [
      [{ expression: 'a == b' }, { anyOf: [{ not: { field: 'user.id', operator: 'gone', value: 1 } }, { field: '', operator: 'eq' }] }],
      '(a == b) and (not (user.id gone 1) or (no path) is (no value))',
    ],
    [[{ related: { resource: 'Membership', as: 'm', on: {} } }], 'at least one Membership m'],
    [
      [
        {
          related: {
            ...{ resource: 'Membership', as: 'm', on: { userId: '${user.id}' }, atMost: 3 },
            where: [
              {
                anyOf: [
                  { field: 'm.level', operator: 'eq', value: 'owner' },
                  { field: 'm.x', operator: 'exists', value: true },
                ],
              },
            ],
          },
        },
        { not: { related: { resource: 'Membership', as: 'n', on: { userId: 'u' }, atMost: 0 } } },
      ],
      '(at most 3 Membership m where m.userId is user.id and (m.level is "owner" or m.x has a value)) and not (no Membership n where n.userId is "u")',
    ],
    [[7], '7'],
  ])('describes %j', (conditions, sentence) =>
    expect(describeConditions(conditions, { operators: CATALOGUE.operators, names: {} })).toBe(sentence),
  );
});

describe('edits of lists', () => {
  it('an item keeps its key when it is changed or moved', () => {
    const list = [{ a: 1 }, { a: 2 }];
    const itemKeys = createItemKeys();
    const keysOf = (items: readonly unknown[]) => items.map(itemKeys.of);
    const keys = keysOf(list);
    expect(new Set(keys).size).toBe(2);
    const changed = itemKeys.replaceAt(list, 0, { a: 9 });
    expect(keysOf(changed)).toEqual(keys);
    expect(keysOf(moveItem(changed, 0, 1))).toEqual([...keys].reverse());
    expect(keysOf(removeAt(changed, 0))).toEqual([keys[1]]);
    expect(moveItem(list, 0, 2)).toBe(list);
  });
});
