import { describe, expect, it } from 'vitest';
import { mistakesOf, POLICIES } from './policy-folder.fixture.ts';

const lines = (...all: readonly string[]): string => all.join('\n');

describe('loadPolicyTests', () => {
  it('reports every mistake in the form of a file with its line and column', async () => {
    const text = lines('now: yesterday', 'user: {}', 'tests:', '  - name: a', '    resource: Article', '    actoin: read');
    expect(await mistakesOf({ 'a.yaml': POLICIES, 'a.test.yaml': text })).toEqual([
      expect.stringMatching(/^policies\/a\.test\.yaml:1:6 now: expected a timestamp/),
      expect.stringMatching(/^policies\/a\.test\.yaml:2:7 user: .*did you mean "users"/),
      expect.stringMatching(/^policies\/a\.test\.yaml:6:13 tests\.0\.actoin: .*did you mean "action"/),
    ]);
  });

  const rows: readonly [what: string, text: string, mistake: RegExp][] = [
    ['an unknown resource of records', 'records: { Artcle: {} }', /^1:\d+ records\.Artcle: .*did you mean "Article"/],
    ['users among the records', 'records: { User: {} }', /^1:\d+ records\.User: expected users in the member "users"/],
    ['a user with the name of anonymous requests', 'users: { anon: {} }', /^1:\d+ users\.anon: expected another name/],
    ['an unknown field', 'records: { Article: { a: { titel: x } } }', /titel: Article has no field "titel".*did you mean "title"/],
    ['a secret field', 'records: { Article: { a: { secret: x } } }', /secret: Article has no field "secret"/],
    ['a value of another type', 'records: { Article: { a: { status: old } } }', /records\.Article\.a\.status: expected/],
    ['a value that is too short', 'records: { Article: { a: { title: x } } }', /records\.Article\.a\.title: expected/],
    ['an unknown reference', 'records: { Article: { a: { authorId: mia } } }', /authorId: the file has no User "mia"/],
    ['an unknown item of references', 'records: { Article: { a: { reviewerIds: [mia] } } }', /reviewerIds: the file has no User "mia"/],
    ['an unknown author', 'records: { Article: { a: { createdBy: mia } } }', /createdBy: the file has no User "mia"/],
    ['an assignment of an unknown policy', 'users: { mia: {} }\nassignments: { mia: [Nigt] }', /mia\.0: no policy.*did you mean "Night"/],
    ['an assignment to an unknown user', 'assignments: { mia: [Night] }', /assignments\.mia: no user is named "mia"/],
  ];
  it.each(rows)('refuses users and records of a test file with %s', async (_, text, mistake) => {
    const [found, ...others] = await mistakesOf({ 'a.yaml': POLICIES, 'a.test.yaml': `${text}\ntests: []` });
    expect(found?.replace('policies/a.test.yaml:', '')).toMatch(mistake);
    expect(others).toEqual([]);
  });

  const tests: readonly [what: string, test: string, mistake: RegExp][] = [
    ['an unknown resource', 'resource: Artcle, allow: {}', /resource: no resource is named "Artcle".*did you mean "Article"/],
    ['a system resource', 'resource: _Policy, allow: {}', /resource: no resource is named "_Policy"/],
    ['a test without a form', 'resource: Article', /tests\.0: expected one of "allow".*"expect".*"list"/],
    ['a test of both forms', 'resource: Article, allow: {}, expect: {}, action: list', /tests\.0: expected one of/],
    [
      'a list of a record that the file does not have',
      'resource: Article, list: { mia: [drft] }',
      /tests\.0\.list\.mia\.0: no Article is named "drft"/,
    ],
    ['a list of an unknown user', 'resource: Article, list: { mai: [] }', /tests\.0\.list\.mai: no user/],
    ['a list with data', 'resource: Article, list: {}, data: {}', /tests\.0\.data: unknown member "data" of a test with "list"/],
    [
      'members of the other form in a matrix',
      'resource: Article, allow: {}, data: {}',
      /data: unknown member "data" of a test with "allow"/,
    ],
    [
      'members of the other form in a request',
      'resource: Article, action: list, expect: {}, users: [mia]',
      /users: unknown member "users"/,
    ],
    ['a request without an action', 'resource: Article, expect: {}', /tests\.0: expected "action"/],
    ['a read without a record', 'resource: Article, action: read, expect: { mia: DENY }', /tests\.0: expected "record"/],
    ['an unknown record', 'resource: Article, action: read, record: b, expect: {}', /record.*: no Article is named "b"/],
    ['an unknown user of a request', 'resource: Article, action: list, expect: { mai: DENY }', /expect\.mai: .*did you mean "mia"/],
    ['an unknown user of a matrix', 'resource: Article, allow: { mai: { read: all } }', /allow\.mai: .*did you mean "mia"/],
    [
      'an unknown record of a matrix',
      'resource: Article, allow: { mia: { read: [b] } }',
      /allow\.mia\.read\.0: no record of the matrix is named "b"/,
    ],
    [
      'an unknown action of a matrix',
      'resource: Article, allow: { mia: { raed: all } }',
      /allow\.mia\.raed: no action of the matrix is named "raed"/,
    ],
    [
      'an action that the matrix leaves out',
      'resource: Article, actions: [list], allow: { mia: { read: all } }',
      /allow\.mia\.read: no action/,
    ],
    [
      'a request without users',
      'resource: Article, action: list, expect: {}',
      /tests\.0: the test has no case: expected users in "expect"/,
    ],
    ['a list without users', 'resource: Article, list: {}', /tests\.0: the test has no case: expected users in "list"/],
    ['a matrix without actions', 'resource: Article, allow: {}', /tests\.0: the test has no case: expected users, actions and records/],
    ['a matrix without users', 'resource: Article, users: [], actions: [read], allow: {}', /tests\.0: the test has no case/],
    ['a matrix without records', 'resource: Article, records: [], actions: [read], allow: {}', /tests\.0: the test has no case/],
    ['a create in a matrix', 'resource: Article, actions: [create], allow: {}', /actions: expected actions on stored records/],
    [
      'a restore of a record that is not deleted',
      'resource: Page, action: restore, record: b, expect: { mia: DENY }',
      /tests\.0\.record: expected a deleted record, with a value of deletedAt: restore is decided on it/,
    ],
    [
      'a matrix of restores with a record that is not deleted',
      'resource: Page, allow: { mia: { restore: [c] } }',
      /tests\.0: expected deleted records, with a value of deletedAt: restore is decided on them, and "b" is not deleted/,
    ],
    ['an unknown method', 'resource: Article, environment: { method: get }, list: { mia: [] }', /environment\.method: expected one of GET/],
    [
      'an unknown reference in data',
      'resource: Article, action: create, data: { authorId: mai }, expect: {}',
      /data\.authorId: .*did you mean "mia"/,
    ],
  ];
  it.each(tests)('refuses a policy test with %s', async (_, test, mistake) => {
    const text = lines(
      'users: { mia: {} }',
      'records: { Article: { a: {} }, Page: { b: {}, c: { deletedAt: 2026-01-01T00:00:00Z } } }',
      `tests: [{ name: a, ${test} }]`,
    );
    const [found, ...others] = await mistakesOf({ 'a.yaml': POLICIES, 'a.test.yaml': text });
    expect(found).toMatch(/^policies\/a\.test\.yaml:3:\d+ /);
    expect(found).toMatch(mistake);
    expect(others).toEqual([]);
  });
});
