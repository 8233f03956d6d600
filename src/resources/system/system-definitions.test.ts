import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { parseDefinition, printMistake, type YamlFile } from '../index.ts';
import { composeDefinitions, SYSTEM } from './system-definitions.ts';

function raw(source: Json, file = 'resources/a.yaml'): YamlFile {
  return { file, source, locate: () => ({ line: 1, column: 1 }) };
}

function compose(...sources: Json[]) {
  const { definitions, mistakes } = composeDefinitions(sources.map((source, at) => raw(source, `resources/${at}.yaml`)));
  return { definitions, mistakes: mistakes.map((mistake) => printMistake(mistake).replace(':1:1', '')) };
}

const field = { type: 'string' };

describe('the system resources', () => {
  it('the system resources have the tables and fields that storage, policies and the audit log use', () => {
    const shapes = [...SYSTEM.values()].map(
      ({ name, fields, internal }) => `${internal ? '' : 'public '}${name}: ${[...fields.keys()].join(' ')}`,
    );
    expect(shapes).toEqual([
      'public User: id version createdAt updatedAt createdBy name email password role isActive',
      '_Policy: id name description type isActive priority createdBy tags managedBy file createdAt updatedAt version checksum',
      '_PolicyRule: id policyId position resource action effect conditions priority description isActive createdAt',
      '_UserPolicy: id userId policyId assignedBy assignedAt expiresAt isActive context version checksum',
      '_RolePolicy: id role policyId assignedBy assignedAt isActive priority managedBy version checksum',
      '_PolicyHistory: id kind subjectId userId fromEpoch toEpoch policyId value changedBy changedAt reason rolledBackTo checksum',
      '_Decision: id at kind userId role resource action recordId allowed reason ruleId policyId epoch requestId ip outcome facts writer sequence hash',
      '_Chain: id at found timeZone cut',
      '_DecisionHour: id hour resource grants denials',
      '_RepeatedDenial: id first writer resource action network since last endsAt count',
      '_State: id number text',
      '_Epoch: id number at historyHash',
      '_Session: id userId createdAt expiresAt revokedAt cookieHash lastUsedAt ip userAgent',
      '_RefreshToken: id sessionId createdAt expiresAt usedAt',
      '_LoginAttempt: id windowStart count',
      '_LoginAddress: id userId lastAt',
      '_RecordChecksum: id checksum',
      '_SavedView: id userId name screen query version updatedAt',
      '_Definition: id hash source appliedAt keptAside',
      '_Evolution: id at actor planHash steps durationMs',
    ]);
  });

  it('the system resources have their unique indexes', () => {
    expect(SYSTEM.get('User')?.fields.get('email')?.unique).toBe(true);
    expect(SYSTEM.get('_Policy')?.fields.get('name')?.unique).toBe(true);
    const unique = SYSTEM.get('_UserPolicy')?.indexes.filter((index) => index.unique);
    expect(unique).toEqual([{ fields: ['userId', 'policyId'], unique: true }]);
    expect(SYSTEM.get('_RolePolicy')?.indexes).toEqual([{ fields: ['role', 'policyId'], unique: true }]);
  });

  it('parses the system resources from their source', () => {
    for (const resource of SYSTEM.values()) {
      expect(parseDefinition(resource.source, { builtIn: true }).resource).toEqual(resource);
    }
  });

  it('the system resources reference only each other', () => {
    for (const { fields } of SYSTEM.values()) {
      for (const { to } of fields.values()) expect(to === undefined || SYSTEM.has(to)).toBe(true);
    }
  });
});

describe('composeDefinitions', () => {
  it('adds the definitions of a project to those of the system', () => {
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

  it('reports references to unknown resources, but not to definitions with mistakes', () => {
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
      expect.stringMatching(/^resources\/0.yaml fields.a.to: .*did you mean "User"/),
      expect.stringMatching(/^resources\/0.yaml fields.b.of.to: .*"_Policy"/),
      expect.stringMatching(/^resources\/1.yaml fields.x.type: /),
    ]);
  });

  it('refuses names that differ only in case', () => {
    const { definitions, mistakes } = compose(
      { name: 'Article', fields: { a: field } },
      { name: 'article', fields: { b: field } },
      { name: 'user', fields: { c: field } },
    );
    expect(mistakes).toEqual([
      expect.stringMatching(/^resources\/1.yaml name: .*case.*Article in resources\/0.yaml/),
      expect.stringMatching(/^resources\/2.yaml name: .*"User".*built-in/),
    ]);
    expect(definitions.get('Article')?.fields.has('a')).toBe(true);
    expect(definitions.has('article')).toBe(false);
  });

  it('refuses the internal name of a system table', () => {
    expect(compose({ name: '_Policy', fields: { a: field } }).mistakes).toHaveLength(1);
  });
});

describe('the User file of a project', () => {
  const user = (fields: Json, more: JsonObject = {}) => compose({ name: 'User', fields, ...more });

  it('a reference to the resource of a file with mistakes is no mistake', () => {
    const comment = raw({ name: 'Comment', fields: { on: { type: 'reference', to: 'Ticket' } } }, 'resources/Comment.yaml');
    const mistakesOf = (files: readonly YamlFile[], unreadable?: readonly string[]) =>
      composeDefinitions(files, unreadable).mistakes.map(({ file }) => file);
    expect(mistakesOf([comment])).toEqual(['resources/Comment.yaml']);
    expect(mistakesOf([comment], ['resources/Ticket.yaml'])).toEqual([]);
    expect(mistakesOf([comment, raw(null, 'resources/Ticket.yaml')])).toEqual(['resources/Ticket.yaml']);
  });

  it('the User file adds fields, roles, indexes, a description and permissions', () => {
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

  it.each<[name: string, fields: Json, mistake: RegExp]>([
    [
      'a role that cannot be assigned',
      { role: { values: ['anon', 'user', 'admin', 'root'] } },
      /fields.role.values.3: expected one of anon/,
    ],
    ['roles without a built-in one', { role: { values: ['user', 'admin'] } }, /fields.role.values: .*missing anon/],
    ['another default role', { role: { default: 'admin' } }, /fields.role.default: expected no change/],
    ['an unguarded role', { role: { guarded: false } }, /fields.role.guarded: expected no change/],
    ['emails that are not unique', { email: { type: 'email', unique: false } }, /fields.email.unique: expected no change/],
    ['a readable password', { password: { writeOnly: false } }, /fields.password.writeOnly: expected no change/],
    ['another type', { name: { type: 'text' } }, /fields.name.type: expected no change/],
    ['null for a built-in field', { email: null }, /fields.email: expected the definition of User.email/],
    [
      'a required field that setup cannot fill',
      { department: { type: 'string', required: true } },
      /fields.department.required: expected a default/,
    ],
    ['a guarded field', { department: { type: 'string', guarded: true } }, /fields.department.guarded: unknown option/],
    ['an automatic field', { id: field }, /fields.id: expected another name/],
    ['the issuer of a token', { issuer: field }, /fields.issuer: expected another name: user.issuer is that of a token/],
    ['the subject of a token', { subject: field }, /fields.subject: expected another name: user.subject is that of a token/],
    ['the prototype', JSON.parse('{"__proto__":{"type":"string"}}'), /fields.__proto__: expected a name/],
    ['a list for fields', [], /fields: expected fields/],
  ])('refuses a User file with %s', (_name, fields, mistake) => {
    const { definitions, mistakes } = user(fields);
    expect(mistakes).toEqual([expect.stringMatching(mistake)]);
    expect(definitions.get('User')).toBe(SYSTEM.get('User'));
  });
});

function composeFiles(...sources: readonly JsonObject[]): ReturnType<typeof composeDefinitions> {
  const fields = { title: { type: 'string' } };
  return composeDefinitions(
    sources.map((source) => ({
      file: `${String(source['name'])}.yaml`,
      source: { fields, ...source },
      locate: () => ({ line: 1, column: 1 }),
    })),
  );
}

describe('references', () => {
  const sources = [
    {
      name: 'Loan',
      fields: {
        bookId: { type: 'reference', to: 'Bok' },
        days: { type: 'intger' },
        tags: { type: 'list', of: { type: 'reference', to: 'Tog' } },
      },
    },
    { name: 'Book', renamedFrom: 'Volume', fields: { of: { type: 'string', to: 'Bok' } } },
    { name: 'Tag', fields: { volumeId: { type: 'reference', to: 'Volume' }, loanId: { type: 'reference', to: 'Loan' } } },
  ];

  it('reports references to unknown resources also in a definition with other mistakes, and the new name of a resource', () => {
    expect(mistakesIn(...sources).filter((mistake) => mistake.includes('resource'))).toEqual([
      'fields.bookId.to: unknown resource "Bok" (did you mean "Book"?)',
      'fields.tags.of.to: unknown resource "Tog" (did you mean "Tag"?)',
      'fields.volumeId.to: unknown resource "Volume" (it is now named "Book")',
    ]);
  });

  it('names the resources whose definitions have mistakes of their own or refer to unknown resources', () => {
    expect(composeFiles(...sources).incomplete).toEqual(new Set(['Loan', 'Book', 'Tag']));
  });
});

describe('renamedFrom', () => {
  it('accepts the name of a resource that is no longer defined in renamedFrom', () => {
    const { definitions, mistakes } = composeFiles({ name: 'Post', renamedFrom: 'Article' });
    expect([definitions.get('Post')?.renamedFrom, mistakes]).toEqual(['Article', []]);
  });

  it.each<[string, readonly JsonObject[], string]>([
    [
      'a resource that is still defined',
      [{ name: 'Post', renamedFrom: 'Article' }, { name: 'Article' }],
      'expected the name of a resource that is no longer defined, given "Article"',
    ],
    [
      'a built-in resource',
      [{ name: 'Post', renamedFrom: 'User' }],
      'expected the name of a resource that is no longer defined, given "User"',
    ],
    [
      'a name that another resource has in renamedFrom',
      [
        { name: 'A', renamedFrom: 'C' },
        { name: 'B', renamedFrom: 'C' },
      ],
      'expected a name that no other resource has in renamedFrom, given "C"',
    ],
    ['the name of the resource itself', [{ name: 'Post', renamedFrom: 'Post' }], 'expected the previous name, given the current name'],
    ['an internal table', [{ name: 'Post', renamedFrom: '_Policy' }], 'expected a name of 1 to 63 letters'],
    ['a value that is no name', [{ name: 'Post', renamedFrom: 7 }], 'expected a name, given 7'],
  ])('refuses renamedFrom with %s', (_, sources, detail) => {
    expect(composeFiles(...sources).mistakes).toMatchObject([{ path: 'renamedFrom', detail: expect.stringContaining(detail) }]);
  });
});

const mistakesIn = (...sources: readonly Json[]): readonly string[] =>
  composeDefinitions(
    sources.map((source, index) => ({ file: `${index}.yaml`, source, locate: () => ({ line: 1, column: 1 }) })),
  ).mistakes.map(({ path, detail }) => `${path}: ${detail}`);
const child = (to: string, onDelete: string, more: JsonObject = {}): JsonObject => ({
  name: 'Child',
  softDelete: true,
  fields: { up: { type: 'reference', to, onDelete } },
  ...more,
});
const parent: JsonObject = { name: 'Parent', fields: { label: { type: 'string' } } };

describe('softDelete', () => {
  it('refuses a cascade from a resource without soft deletes', () => {
    expect(mistakesIn(parent, child('Parent', 'cascade'))).toEqual([
      expect.stringMatching(/^fields.up.onDelete: .*Parent.*restrict or setNull$/),
    ]);
    const list = { up: { type: 'list', of: { type: 'reference', to: 'Parent', onDelete: 'cascade' } } };
    expect(mistakesIn(child('Parent', 'cascade', { fields: list }), parent)).toEqual([
      expect.stringMatching(/^fields.up.of.onDelete: .*Parent.*restrict$/),
    ]);
    expect(mistakesIn(child('User', 'cascade'))).toEqual([expect.stringMatching(/^fields.up.onDelete: .*User.*restrict or setNull$/)]);
  });

  it.each(['restrict', 'setNull'])('accepts softDelete with onDelete %s', (onDelete) => {
    expect(mistakesIn(parent, child('Parent', onDelete), { ...parent, name: 'Other', softDelete: true })).toEqual([]);
  });

  it('accepts a cascade if both resources have soft deletes, or the referencing one has none', () => {
    const softDeleted = { ...parent, softDelete: true };
    expect(mistakesIn(softDeleted, child('Parent', 'cascade'))).toEqual([]);
    expect(mistakesIn(softDeleted, child('Parent', 'cascade', { softDelete: false }))).toEqual([]);
    expect(mistakesIn(child('Child', 'cascade'))).toEqual([]);
    expect(mistakesIn(parent, child('Parent', 'cascade', { softDelete: false }))).toEqual([]);
  });

  it('refuses softDelete for users', () => {
    expect(mistakesIn({ name: 'User', softDelete: true, fields: { team: { type: 'string' } } })).toEqual([
      expect.stringMatching(/^softDelete: .*isActive/),
    ]);
    expect(mistakesIn({ name: 'User', softDelete: false })).toEqual([]);
  });
});
