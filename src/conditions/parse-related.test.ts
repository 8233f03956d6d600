import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../operators/index.ts';
import type { PathKind } from './condition.ts';
import type { ConditionParserOptions } from './condition-parser.ts';
import { printCondition } from './explain-condition.ts';
import { parseConditions } from './parse-condition.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

const FIELDS: Readonly<Record<string, PathKind>> = {
  id: { kind: 'text' },
  userId: { kind: 'text' },
  teamId: { kind: 'text' },
  level: { kind: 'number' },
  tags: { kind: 'list', itemKind: 'text' },
  extra: { kind: 'json' },
};
const OPTIONS: ConditionParserOptions = {
  at: 'at',
  expressions: false,
  limits: SMALL_LIMITS,
  describePath: ({ group, keys }) => (group === 'user' && keys[0] === 'level' ? { kind: 'number' } : { kind: 'text' }),
  describeRelated: (name) =>
    name === 'Member'
      ? { describe: ([field = ''], text) => FIELDS[field] ?? { problem: `${text} has no field` } }
      : { problem: `there is no resource "${name}"` },
};
const MEMBER = { resource: 'Member', as: 'm', on: { userId: '${user.id}' } };

const parse = (related: Json) => parseConditions([{ related }], OPTIONS);

type Mistake = readonly [path: string, code: string, fact: RegExp];

/** Invalid conditions, and the path, the code and a fact of each issue. */
const MISTAKES: readonly (readonly [name: string, related: Json, ...mistakes: Mistake[]])[] = [
  ['a text', 'Member', ['', 'type', /an object/]],
  ['nothing', {}, ['.resource', 'required', /name of a resource/], ['.as', 'required', /such as "m"/]],
  ['an unknown member', { ...MEMBER, from: 'x' }, ['.from', 'unknown', /unknown member "from"/]],
  ['an unknown resource', { ...MEMBER, resource: 'Membr' }, ['.resource', 'value', /no resource "Membr"/]],
  ['a group as alias', { ...MEMBER, as: 'user' }, ['.as', 'value', /another meaning/]],
  ['an alias with a dot', { ...MEMBER, as: 'm.x' }, ['.as', 'type', /small letter/]],
  ['an inherited name as alias', { ...MEMBER, as: 'constructor' }, ['.as', 'value', /another meaning/]],
  ['no links', { resource: 'Member', as: 'm' }, ['.on', 'required', /1 to 8 fields/]],
  ['empty links', { ...MEMBER, on: {} }, ['.on', 'type', /1 to 8 fields/]],
  ['a link by an unknown field', { ...MEMBER, on: { userid: 'u' } }, ['.on.userid', 'value', /has no field/]],
  ['a link by a list', { ...MEMBER, on: { tags: '${user.id}' } }, ['.on.tags', 'field', /cannot be linked by "tags", which is list/]],
  ['a link by JSON', { ...MEMBER, on: { extra: 'x' } }, ['.on.extra', 'field', /cannot be linked by "extra", which is json/]],
  ['a link by a list to a text', { ...MEMBER, on: { tags: 'x' } }, ['.on.tags', 'field', /which is list/]],
  ['a link to another kind', { ...MEMBER, on: { userId: '${user.level}' } }, ['.on.userId', 'value', /another kind/]],
  ['a link to null', { ...MEMBER, on: { userId: null } }, ['.on.userId', 'value', /text, number or boolean/]],
  ['a link to a text with a path in it', { ...MEMBER, on: { userId: 'u-${user.id}' } }, ['.on.userId', 'value', /text, number or boolean/]],
  ['empty conditions', { ...MEMBER, where: [] }, ['.where', 'type', /at least one condition/]],
  [
    'a field of the record without its group',
    { ...MEMBER, where: [{ field: 'level', operator: 'eq', value: 1 }] },
    ['.where.0.field', 'field', /user, resource, environment, request, m/],
  ],
  ['a bound of zero records', { ...MEMBER, atLeast: 0 }, ['.atLeast', 'range', /at least 1/]],
  ['a fraction as bound', { ...MEMBER, atMost: 1.5 }, ['.atMost', 'type', /an integer/]],
  ['bounds in reverse order', { ...MEMBER, atLeast: 3, atMost: 2 }, ['.atMost', 'range', /at least 3/]],
  [
    'three levels',
    { ...MEMBER, where: [{ related: { ...MEMBER, as: 'n', where: [{ related: { ...MEMBER, as: 'o' } }] } }] },
    ['.where.0.related.where.0.related', 'tooDeep', /at most 2/],
  ],
  ['the alias of the records around it', { ...MEMBER, where: [{ related: MEMBER }] }, ['.where.0.related.as', 'value', /around it/]],
];

describe('parseRelated', () => {
  it.each(MISTAKES.map(([name, related, ...expected]) => [name, related, expected] as const))(
    'parseRelated reports %s, and the condition is unknown',
    (_, related, expected) => {
      const { issues, condition } = parse(related);
      expect(issues.map(({ path, code }) => [path, code])).toEqual(expected.map(([path, code]) => [`at.0.related${path}`, code]));
      for (const [index, [, , fact]] of expected.entries()) expect(issues[index]?.detail).toMatch(fact);
      expect(condition).toEqual({ type: 'constant', value: null });
    },
  );

  it('parseRelated accepts a path of the alias on both sides, and of the records around it', () => {
    const inner: JsonObject = {
      related: { ...MEMBER, as: 'n', on: { teamId: '${m.teamId}' }, where: [{ field: 'n.level', operator: 'gt', value: '${m.level}' }] },
    };
    const { issues, condition } = parse({
      ...MEMBER,
      where: [{ field: 'user.level', operator: 'lt', value: '${m.level}' }, inner],
      atMost: 3,
    });
    expect(issues).toEqual([]);
    expect(printCondition(condition)).toBe(
      'at most 3 Member m where m.userId = ${user.id} and (user.level lt ${m.level} and at least 1 Member n where n.teamId = ${m.teamId} and n.level gt ${m.level})',
    );
  });

  it('a path with an alias is a mistake outside of its condition', () => {
    const { issues } = parseConditions([{ related: MEMBER }, { field: 'm.level', operator: 'eq', value: 1 }], OPTIONS);
    expect(issues.map(({ path }) => path)).toEqual(['at.1.field']);
  });
});
