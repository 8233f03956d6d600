import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, policyOf } from '../../../test/policy-fixtures.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { findPolicyMistakes, type ParsePolicyOptions, parsePolicy } from './parse-policy.ts';

const rule = { resource: 'Article', action: 'read' };
const least = { name: 'Readers', type: 'CUSTOM', rules: [rule] };

function read(input: Json, options: Partial<ParsePolicyOptions> = {}) {
  return parsePolicy(input, { definitions: NEWSROOM, limits: LIMITS, ...options });
}

function issuesOf(input: Json, options: Partial<ParsePolicyOptions> = {}): string[] {
  return read(input, options).issues.map(({ path, code }) => `${path} ${code}`);
}

describe('a new policy', () => {
  it('a new policy gets defaults for absent members', () => {
    expect(read(least)).toEqual({
      policy: {
        name: 'Readers',
        description: undefined,
        type: 'CUSTOM',
        isActive: true,
        priority: 100,
        tags: [],
        createdBy: undefined,
        rules: [
          { resource: 'Article', action: 'read', effect: 'ALLOW', conditions: [], priority: 100, description: undefined, isActive: true },
        ],
      },
      issues: [],
    });
  });

  it('a new policy keeps the given members and the conditions as written', () => {
    const conditions = [{ field: 'views', context: 'resource', operator: 'gt', value: 3 }];
    const rules = [{ ...rule, effect: 'DENY', conditions, priority: -5, description: 'popular\nones', isActive: false }];
    const input = { ...least, description: 'two\nlines', rules, isActive: false, priority: 900, tags: ['a'], createdBy: 'me' };
    expect(read(input).policy).toEqual(input);
  });

  it('no policy is returned if there is a mistake', () => {
    expect(read({ ...least, priority: 1.5 })).not.toHaveProperty('policy');
  });
});

describe('the mistakes of a policy', () => {
  it('reports every mistake of a policy with its path', () => {
    const input = {
      nam: 'Readers',
      type: 'ROLE',
      priority: '900',
      rules: [
        { resource: 'Article', action: 'rea', effect: 'FORBID' },
        { resource: 'Article', action: 'read', conditions: [{ field: 'resource.titl', operator: 'eqq', value: 1 }] },
      ],
    };
    expect(issuesOf(input).toSorted()).toEqual([
      'nam unknown',
      'name required',
      'priority type',
      'rules.0.action enum',
      'rules.0.effect enum',
      'rules.1.conditions.0.field field',
      'rules.1.conditions.0.operator operator',
      'type enum',
    ]);
  });

  it('reports mistakes of the schema and of the conditions in one rule', () => {
    const conditions = [{ field: 'resource.titl', operator: 'eq', value: 1 }];
    expect(issuesOf({ ...least, rules: [{ ...rule, effect: 'FORBID', priority: 'high', id: 'mine', conditions }] }).toSorted()).toEqual([
      'rules.0.conditions.0.field field',
      'rules.0.effect enum',
      'rules.0.id reference',
      'rules.0.priority type',
    ]);
  });

  it('reports at most 100 mistakes', () => {
    const rules = Array.from({ length: 50 }, () => ({ resource: 'a b', action: 'rea', effect: 'FORBID' }));
    expect(issuesOf({ ...least, rules })).toHaveLength(100);
  });

  it('looks for no further mistakes in rules after 100', () => {
    const conditions = Array.from({ length: 7 }, () => ({ field: 'resource.titl', operator: 'eq', value: 1 }));
    const input = { ...least, rules: Array(50).fill({ ...rule, conditions }) };
    expect(findPolicyMistakes(input, { definitions: NEWSROOM, limits: LIMITS })).toHaveLength(100);
  });

  const rows: readonly [what: string, input: Json, issue: string][] = [
    ['a list in place of an object', [], ' type'],
    ['null in place of an object', null, ' type'],
    ['an empty name', { ...least, name: '  ' }, 'name tooShort'],
    ['a name with a line break', { ...least, name: 'a\nb' }, 'name characters'],
    ['a name with half a character', { ...least, name: 'a\ud800' }, 'name characters'],
    ['a long name', { ...least, name: 'x'.repeat(201) }, 'name tooLong'],
    ['rules of another type', { ...least, rules: {} }, 'rules type'],
    ['too many rules', { ...least, rules: Array(51).fill(rule) }, 'rules tooMany'],
    ['a rule of another type', { ...least, rules: ['read'] }, 'rules.0 type'],
    ['an impossible resource', { ...least, rules: [{ ...rule, resource: 'a b' }] }, 'rules.0.resource pattern'],
    ['an action that decides as others', { ...least, rules: [{ ...rule, action: 'updateIfExists' }] }, 'rules.0.action enum'],
    ['an action that decides as delete', { ...least, rules: [{ ...rule, action: 'restore' }] }, 'rules.0.action enum'],
    ['an action that takes two decisions', { ...least, rules: [{ ...rule, action: 'listDeleted' }] }, 'rules.0.action enum'],
    [
      'an action that no request to the audit log has',
      { ...least, rules: [{ ...rule, resource: '_Decision', action: 'list' }] },
      'rules.0.action enum',
    ],
    ['an action named constructor', { ...least, rules: [{ ...rule, action: 'constructor' }] }, 'rules.0.action enum'],
    ['a fractional priority', { ...least, priority: 1.5 }, 'priority type'],
    ['a huge priority', { ...least, priority: 1e10 }, 'priority range'],
    ['isActive as text', { ...least, isActive: 'false' }, 'isActive type'],
    ['tags that are not texts', { ...least, tags: ['a', 3] }, 'tags.1 type'],
    ['an id', { ...least, id: 'mine' }, 'id readOnly'],
    ['a rule id', { ...least, rules: [{ ...rule, id: 'mine' }] }, 'rules.0.id reference'],
  ];
  it.each(rows)('refuses a policy with %s', (_, input, issue) => {
    expect(issuesOf(input)).toEqual([issue]);
  });

  it('__proto__ is an unknown member', () => {
    const input = JSON.parse('{"__proto__": {}, "name": "Readers", "type": "CUSTOM", "rules": [{"resource": "*", "action": "*"}]}');
    expect(issuesOf(input)).toEqual(['__proto__ unknown']);
  });

  it.each([
    ['updateIfExists', '"update" and "read"'],
    ['restore', '"delete"'],
    ['listDeleted', '"list" and "delete"'],
  ])('the message about the action %s names the actions that it is decided as: %s', (action, names) => {
    expect(read({ ...least, rules: [{ ...rule, action }] }).issues).toEqual([
      { path: 'rules.0.action', code: 'enum', detail: expect.stringContaining(names) },
    ]);
  });

  const values: readonly Json[] = [null, true, 7, 'text', [], [[]], [null], {}, { id: 'x' }];
  const members = ['name', 'description', 'type', 'rules', 'isActive', 'priority', 'tags', 'createdBy', 'id', 'version'];
  const ruleMembers = ['id', 'resource', 'action', 'effect', 'conditions', 'priority', 'description', 'isActive', 'policyId'];
  it.each(values)('reports each mistake once for the value %j of each member', (value) => {
    const inputs = [
      ...members.map((member) => ({ ...least, [member]: value })),
      ...ruleMembers.map((member) => ({ ...least, rules: [{ ...rule, [member]: value }] })),
    ];
    for (const input of inputs) {
      const issues = issuesOf(input);
      expect(new Set(issues).size).toBe(issues.length);
    }
  });
});

describe('expressions', () => {
  const rules = [{ ...rule, conditions: [{ expression: 'user.department == "sports"' }] }];

  it('accepts expressions in CUSTOM policies', () => {
    expect(issuesOf({ ...least, rules })).toEqual([]);
  });

  it.each(['ROLE_BASED', 'ATTRIBUTE_BASED'])('refuses expressions in %s policies', (type) => {
    expect(read({ ...least, type, rules }).issues.map(({ path }) => path)).toEqual([expect.stringMatching(/^rules\.0\.conditions\.0/)]);
  });

  it('refuses another type for a policy with expressions', () => {
    const existing = policyOf('p', rules as JsonObject[]);
    expect(read({ type: 'ROLE_BASED' }, { existing }).issues).toHaveLength(1);
    expect(read({ isActive: false }, { existing }).issues).toEqual([]);
  });
});

describe('a change of a policy', () => {
  const existing = policyOf('p', [{ resource: 'Article' }, { resource: 'Desk' }], { description: 'old', tags: ['a'] });

  it('a change keeps the members that are not given', () => {
    expect(read({ isActive: false }, { existing }).policy).toEqual({ ...pick(existing), isActive: false });
  });

  it('a change does not validate unchanged rules again', () => {
    const broken = policyOf('p', [{ conditions: [{ field: 'resource.gone', operator: 'nonsense', value: 1 }] }]);
    expect(issuesOf({ isActive: false }, { existing: broken })).toEqual([]);
  });

  it('a change keeps the action of a stored rule on the audit log', () => {
    const stored = policyOf('p', [{ resource: '_Decision', action: 'list' }]);
    const [{ id } = { id: '' }] = stored.rules;
    const keptRule = { id, resource: '_Decision', action: 'list' };
    expect(issuesOf({ rules: [keptRule] }, { existing: stored })).toEqual([]);
    expect(issuesOf({ rules: [{ ...keptRule, action: 'update' }] }, { existing: stored })).toEqual(['rules.0.action enum']);
  });

  it('a change reads each stored rule once, so the time is linear in the number of rules', () => {
    const stored = policyOf('p', Array<JsonObject>(40).fill(rule));
    let reads = 0;
    const rules = stored.rules.map(({ id, ...members }) => ({
      ...members,
      get id() {
        reads++;
        return id;
      },
    }));
    expect(issuesOf({ rules: stored.rules.map(({ id }) => ({ ...rule, id })) }, { existing: { ...stored, rules } })).toEqual([]);
    expect(reads).toBe(40);
  });

  it('a change removes a description with null', () => {
    expect(read({ description: null }, { existing }).policy?.description).toBeUndefined();
  });

  it('accepts a policy as it was returned', () => {
    const shown = JSON.parse(JSON.stringify(existing));
    expect(read({ ...shown, priority: 5 }, { existing }).policy).toMatchObject({ priority: 5, rules: [{ id: 'p.0' }, { id: 'p.1' }] });
  });

  it('a change replaces all rules, and rules with an id stay the same rules', () => {
    const { policy } = read({ rules: [{ ...rule }, { ...rule, id: 'p.1' }] }, { existing });
    expect(policy?.rules.map(({ id }) => id)).toEqual([undefined, 'p.1']);
  });

  it('refuses a repeated rule id', () => {
    expect(
      issuesOf(
        {
          rules: [
            { ...rule, id: 'p.1' },
            { ...rule, id: 'p.1' },
          ],
        },
        { existing },
      ),
    ).toEqual(['rules.1.id duplicate']);
  });

  it('a change cannot set members that the service sets', () => {
    const issues = issuesOf({ createdBy: 'me', updatedAt: 'now', rules: [{ ...rule, id: 'p.1', createdAt: 'now' }] }, { existing });
    expect(issues.map((issue) => issue.split(' ')[0])).toEqual(['updatedAt', 'createdBy', 'rules.0.createdAt']);
  });

  function pick({ name, description, type, isActive, priority, tags, createdBy, rules }: typeof existing) {
    return { name, description, type, isActive, priority, tags, createdBy, rules };
  }
});
