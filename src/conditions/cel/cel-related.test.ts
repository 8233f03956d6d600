import { describe, expect, it } from 'vitest';
import { definitionsOf, LIMITS } from '../../../test/policy-fixtures.ts';
import { describePath, describeRelated } from '../../authz/context/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { relatedIn } from '../condition-paths.ts';
import { printCondition } from '../explain-condition.ts';
import { parseConditions } from '../parse-condition.ts';
import { storedRelatedPaths } from '../rename-paths.ts';

const DEFINITIONS = definitionsOf(
  { name: 'Team', fields: { name: { type: 'string' }, plan: { type: 'string' } } },
  { name: 'Document', fields: { teamId: { type: 'reference', to: 'Team' }, size: { type: 'integer' } } },
  {
    name: 'Membership',
    fields: {
      userId: { type: 'string' },
      teamId: { type: 'reference', to: 'Team' },
      level: { type: 'enum', values: ['owner', 'reader'] },
      size: { type: 'integer' },
      active: { type: 'boolean' },
      until: { type: 'timestamp' },
      tags: { type: 'list', of: 'string' },
      code: { type: 'string', writeOnly: true },
    },
  },
);

const parse = (...conditions: readonly JsonObject[]) =>
  parseConditions(conditions, {
    at: 'conditions',
    expressions: true,
    limits: LIMITS.conditions,
    describePath: describePath(DEFINITIONS, 'Document', LIMITS.conditions),
    describeRelated: describeRelated(DEFINITIONS, LIMITS.conditions),
  });

const LINKS = 'm.userId == user.id && m.teamId == resource.teamId';
const ON: JsonObject = { userId: '${user.id}', teamId: '${resource.teamId}' };
const member = (members: JsonObject): JsonObject => ({ related: { resource: 'Membership', as: 'm', on: ON, ...members } });
const is = (field: string, operator: string, value: JsonObject[string]): JsonObject => ({ field, operator, value });

describe('related in an expression', () => {
  const cases: readonly [string, JsonObject][] = [
    [`related(Membership, m, ${LINKS})`, member({})],
    ['related(Membership, m, user.id == m.userId && resource.teamId == m.teamId)', member({})],
    [`related(Membership, m, ${LINKS}, m.level in ["owner"])`, member({ where: [is('m.level', 'in', ['owner'])] })],
    [
      `related(Membership, m, ${LINKS}, m.level == "owner" && m.active)`,
      member({ where: [is('m.level', 'eq', 'owner'), is('m.active', 'eq', true)] }),
    ],
    [
      `related(Membership, m, ${LINKS}, m.until > environment.timestamp)`,
      member({ where: [is('m.until', 'gt', '${environment.timestamp}')] }),
    ],
    [`related(Membership, m, ${LINKS}, m.teamId.plan == "big")`, member({ where: [is('m.teamId.plan', 'eq', 'big')] })],
    [`related(Membership, m, ${LINKS}, m.size < resource.size)`, member({ where: [is('m.size', 'lt', '${resource.size}')] })],
    [`related(Membership, m, ${LINKS}).atLeast(2)`, member({ atLeast: 2 })],
    [
      `related(Membership, m, ${LINKS}, m.level == "owner").atLeast(1).atMost(3)`,
      member({ where: [is('m.level', 'eq', 'owner')], atLeast: 1, atMost: 3 }),
    ],
    [`!related(Membership, m, ${LINKS})`, { not: member({}) }],
    [`resource.size > 3 || related(Membership, m, ${LINKS})`, { anyOf: [is('resource.size', 'gt', 3), member({})] }],
    ['related(Membership, m, m.userId == "x" && m.size == 5)', member({ on: { userId: 'x', size: 5 } })],
    [
      `related(Membership, m, ${LINKS}, related(Membership, o, o.teamId == m.teamId, o.level == "owner").atMost(1))`,
      member({
        where: [
          { related: { resource: 'Membership', as: 'o', on: { teamId: '${m.teamId}' }, where: [is('o.level', 'eq', 'owner')], atMost: 1 } },
        ],
      }),
    ],
  ];
  it.each(cases)('%s is the same condition as in JSON', (expression, condition) => {
    const [given, expected] = [parse({ expression }), parse(condition)];
    expect(given.issues).toEqual([]);
    expect(given.condition).toEqual(expected.condition);
  });

  it('a conditional may choose between related records', () => {
    const { condition, issues } = parse({ expression: `resource.size > 3 ? related(Membership, m, ${LINKS}) : user.role == "admin"` });
    expect([issues, relatedIn(condition).length]).toEqual([[], 1]);
  });

  it('a part that is no comparison is evaluated for each related record, and is printed with its name', () => {
    const { condition, issues } = parse({ expression: `related(Membership, m, ${LINKS}, size(m.tags) > 2)` });
    expect(issues).toEqual([]);
    expect(printCondition(condition)).toContain('size(m.tags) > 2');
  });

  it('an expression in where reads the related record', () => {
    expect(parse(member({ where: [{ expression: 'm.level == "owner"' }] })).condition).toEqual(
      parse(member({ where: [is('m.level', 'eq', 'owner')] })).condition,
    );
  });

  it('the paths of related records are known to migrations', () => {
    const paths = storedRelatedPaths([{ expression: `related(Membership, m, ${LINKS}, m.level == "owner")` }]);
    expect(paths.map(({ resource, keys }) => `${resource}.${keys.join('.')}`)).toEqual([
      'Membership.userId',
      'Membership.teamId',
      'Membership.level',
    ]);
  });

  const mistakes: readonly [string, string][] = [
    ['related(Membershp, m, m.userId == user.id)', 'did you mean "Membership"?'],
    ['related(Membership, m, m.usrId == user.id)', 'did you mean "userId"?'],
    ['related(Membership, m, m.userId == user.id, m.levl == "owner")', 'did you mean "level"?'],
    ['related(Membership, m, m.userId == user.id, m.level > 5)', 'm.level'],
    ['related(Membership, m, m.code == user.id)', 'code'],
    ['related(Membership, m, m.userId == user.id, n.level == "owner")', 'unknown name "n"'],
    ['related(Membership, user, user.userId == user.id)', 'has another meaning'],
    ['related(Membership, m)', 'expected a resource, a name, equalities and a condition'],
    ['related("Membership", m, m.userId == user.id)', 'expected a resource, a name, equalities and a condition'],
    ['related(Membership, m, m.userId == user.id, true, true)', 'expected a resource, a name, equalities and a condition'],
    ['related(Membership, m, m.userId != user.id)', 'expected equalities joined with &&'],
    ['related(Membership, m, m.userId == user.id || m.size == 1)', 'expected equalities joined with &&'],
    ['related(Membership, m, m.userId == user.id && m.userId == "x")', 'expected equalities joined with &&'],
    ['related(Membership, m, m.userId == "${user.id}")', 'expected equalities joined with &&'],
    ['related(Membership, m, m.userId == user.id).atLeast(0)', 'expected at least 1'],
    ['related(Membership, m, m.userId == user.id).atLeast(user.id)', 'expected one integer'],
    ['related(Membership, m, m.userId == user.id).atLeast(3).atMost(2)', 'the value of atLeast'],
    ['related(Membership, m, m.userId == user.id).atLeast(2).atLeast(3)', 'unknown function "atLeast"'],
    ['related(Membership, m, m.userId == user.id) == true', 'related(…) is a condition'],
    ['user.teams.exists(t, related(Membership, m, m.userId == t))', 'cannot contain related'],
    ['related(Membership, m, m.userId == user.id, m.tags.exists(m, m == "x"))', '"m" cannot be a loop variable'],
    [
      'related(Membership, m, m.userId == user.id, related(Membership, m, m.userId == user.id))',
      'is the name of the related records around it',
    ],
    [
      'related(Membership, a, a.userId == user.id, related(Membership, b, b.userId == user.id, related(Membership, c, c.userId == user.id)))',
      'expected at most 2 conditions on related records',
    ],
  ];
  it.each(mistakes)('%s is refused', (expression, detail) => {
    const { condition, issues } = parse({ expression });
    expect(issues.map(({ path }) => path)).toContain('conditions.0.expression');
    expect(issues.map((issue) => issue.detail).join('\n')).toContain(detail);
    expect(condition).toEqual({ type: 'constant', value: null });
  });
});
