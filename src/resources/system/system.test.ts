import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { parseDefinition, printMistake, type RawDefinition } from '../index.ts';
import { composeDefinitions, SYSTEM } from './system-definitions.ts';

function raw(source: Json, file = 'resources/a.yaml'): RawDefinition {
  return { file, source, locate: () => ({ line: 1, column: 1 }) };
}

function compose(...sources: Json[]) {
  const { definitions, mistakes } = composeDefinitions(sources.map((source, at) => raw(source, `resources/${at}.yaml`)));
  return { definitions, mistakes: mistakes.map((mistake) => printMistake(mistake).replace(':1:1', '')) };
}

const field = { type: 'string' };

describe('the system resources', () => {
  it('are what storage, policies and the record rely on', () => {
    const shapes = [...SYSTEM.values()].map(
      ({ name, fields, internal }) => `${internal ? '' : 'public '}${name}: ${[...fields.keys()].join(' ')}`,
    );
    expect(shapes).toEqual([
      'public User: id version createdAt updatedAt createdBy name email password role isActive',
      '_Policy: id name description type isActive priority createdBy tags createdAt updatedAt version',
      '_PolicyRule: id policyId position resource action effect conditions priority description isActive createdAt',
      '_UserPolicy: id userId policyId assignedBy assignedAt expiresAt isActive context version',
      '_RolePolicy: id role policyId assignedBy assignedAt isActive priority version',
      '_PolicyHistory: id kind subjectId userId fromEpoch toEpoch value changedBy changedAt',
      '_Decision: id at kind userId role resource action recordId allowed reason ruleId policyId epoch requestId ip outcome facts writer sequence hash',
      '_Chain: id at found cut',
      '_DecisionHour: id hour resource grants denials',
      '_State: id number text',
      '_Epoch: id number at historyHash',
      '_Session: id userId createdAt expiresAt revokedAt',
      '_RefreshToken: id sessionId createdAt expiresAt usedAt',
      '_LoginAttempt: id windowStart count',
      '_LoginAddress: id userId lastAt',
      '_Definition: id hash source appliedAt keptAside',
      '_Evolution: id at actor planHash steps durationMs',
    ]);
  });

  it('keep their uniqueness', () => {
    expect(SYSTEM.get('User')?.fields.get('email')?.unique).toBe(true);
    expect(SYSTEM.get('_Policy')?.fields.get('name')?.unique).toBe(true);
    expect(SYSTEM.get('_UserPolicy')?.indexes).toEqual([{ fields: ['userId', 'policyId'], unique: true }]);
    expect(SYSTEM.get('_RolePolicy')?.indexes).toEqual([{ fields: ['role', 'policyId'], unique: true }]);
  });

  it('can be read again from their source', () => {
    for (const resource of SYSTEM.values()) {
      expect(parseDefinition(resource.source, { builtIn: true }).resource).toEqual(resource);
    }
  });

  it('refer to one another only', () => {
    for (const { fields } of SYSTEM.values()) {
      for (const { to } of fields.values()) expect(to === undefined || SYSTEM.has(to)).toBe(true);
    }
  });
});

describe('composeDefinitions', () => {
  it('joins a project with the built-in resources', () => {
    const { definitions, mistakes } = compose(
      {
        name: 'Article',
        fields: { author: { type: 'reference', to: 'User' }, comments: { type: 'list', of: { type: 'reference', to: 'Comment' } } },
      },
      { name: 'Comment', fields: { parent: { type: 'reference', to: 'Comment' } } },
    );
    expect(mistakes).toEqual([]);
    expect([...definitions.keys()]).toEqual([...SYSTEM.keys(), 'Article', 'Comment']);
  });

  it('finds references to nothing, and not those to a definition with mistakes', () => {
    const { mistakes } = compose(
      {
        name: 'Article',
        fields: {
          a: { type: 'reference', to: 'Usr' },
          b: { type: 'list', of: { type: 'reference', to: '_Policy' } },
          c: { type: 'reference', to: 'Broken' },
        },
      },
      { name: 'Broken', fields: { x: { type: 'strng' } } },
    );
    expect(mistakes).toEqual([
      'resources/1.yaml fields.x.type: unknown type "strng" (did you mean "string"?)',
      'resources/0.yaml fields.a.to: unknown resource "Usr" (did you mean "User"?)',
      'resources/0.yaml fields.b.of.to: unknown resource "_Policy"',
    ]);
  });

  it('refuses one name twice, however it is written', () => {
    const { definitions, mistakes } = compose(
      { name: 'Article', fields: { a: field } },
      { name: 'article', fields: { b: field } },
      { name: 'user', fields: { c: field } },
    );
    expect(mistakes).toEqual([
      'resources/1.yaml name: expected a name of its own, different by more than case, given "article" beside Article in resources/0.yaml',
      'resources/2.yaml name: expected "User" to add to the built-in one, given "user"',
    ]);
    expect(definitions.get('Article')?.fields.has('a')).toBe(true);
    expect(definitions.has('article')).toBe(false);
  });

  it('keeps internal names to itself', () => {
    expect(compose({ name: '_Policy', fields: { a: field } }).mistakes).toHaveLength(1);
  });
});

describe('a project’s own User', () => {
  const user = (fields: Json, more: JsonObject = {}) => compose({ name: 'User', fields, ...more });

  it('adds fields, roles, indexes, a description and permissions', () => {
    const { definitions, mistakes } = user(
      {
        department: { type: 'string', index: true },
        role: { type: 'enum', values: ['anon', 'user', 'admin', 'editor'], description: 'Rank.' },
      },
      { description: 'Staff.', indexes: [{ fields: ['department', 'createdAt'] }], permissions: { list: ['admin'] } },
    );
    expect(mistakes).toEqual([]);
    const resource = definitions.get('User');
    expect([...(resource?.fields.keys() ?? [])].slice(5)).toEqual(['name', 'email', 'password', 'role', 'isActive', 'department']);
    expect(resource?.fields.get('role')).toMatchObject({
      values: ['anon', 'user', 'admin', 'editor'],
      guarded: true,
      default: 'user',
      required: true,
      description: 'Rank.',
    });
    expect(resource).toMatchObject({ description: 'Staff.', internal: false, indexes: [{ fields: ['department', 'createdAt'] }] });
    expect(parseDefinition(resource?.source ?? null, { builtIn: true }).resource).toEqual(resource);
  });

  it.each<[what: string, fields: Json, mistake: RegExp]>([
    ['a role that none may have', { role: { values: ['anon', 'user', 'admin', 'root'] } }, /fields.role.values.3: expected one of anon/],
    ['a role fewer', { role: { values: ['user', 'admin'] } }, /fields.role.values: .*missing anon/],
    ['another default role', { role: { default: 'admin' } }, /fields.role.default: expected no change/],
    ['an unguarded role', { role: { guarded: false } }, /fields.role.guarded: expected no change/],
    ['emails that are not unique', { email: { type: 'email', unique: false } }, /fields.email.unique: expected no change/],
    ['a password that is shown', { password: { writeOnly: false } }, /fields.password.writeOnly: expected no change/],
    ['another type', { name: { type: 'text' } }, /fields.name.type: expected no change/],
    ['nothing for a built-in field', { email: null }, /fields.email: expected what User.email is/],
    [
      'a required field that setup cannot fill',
      { department: { type: 'string', required: true } },
      /fields.department.required: expected a default/,
    ],
    ['a guarded field', { department: { type: 'string', guarded: true } }, /fields.department.guarded: unknown option/],
    ['an automatic field', { id: field }, /fields.id: expected another name/],
    ['the prototype', JSON.parse('{"__proto__":{"type":"string"}}'), /fields.__proto__: expected a name/],
    ['a list for fields', [], /fields: expected fields/],
  ])('refuses %s', (_what, fields, mistake) => {
    const { definitions, mistakes } = user(fields);
    expect(mistakes).toEqual([expect.stringMatching(mistake)]);
    expect(definitions.get('User')).toBe(SYSTEM.get('User'));
  });
});
