import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { loadPolicyFiles } from './load-policy-files.ts';
import { DEFINITIONS, mistakesOf, POLICIES, withFolder } from './policy-folder.fixture.ts';

const ONE = 'name: One\ntype: ROLE_BASED\nroles: [{ role: user, priority: 7 }]\nrules: [{ resource: Article, action: read }]\n';

describe('loadPolicyFiles', () => {
  it('loads a policy of each file, and several of a list, in the order of the files', async () => {
    const files = { 'b.yaml': POLICIES, 'a.yaml': ONE, 'a.test.yaml': 'nonsense: [', 'notes.txt': 'nonsense: [' };
    const { policies, mistakes } = await withFolder(files, (folder) =>
      loadPolicyFiles(folder, { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 }),
    );
    expect(mistakes).toEqual([]);
    expect(policies.map(({ policy, roles }) => [policy.name, roles.map(({ role }) => role)])).toEqual([
      ['One', ['user']],
      ['Authors', ['user']],
      ['Night', []],
    ]);
  });

  it('returns nothing for a folder that does not exist', () => {
    expect(loadPolicyFiles('/nonexistent/policies', { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 })).toMatchObject({
      policies: [],
      mistakes: [],
    });
  });

  it('reports every mistake of every file with its line and column', async () => {
    const mistakes = await mistakesOf({
      'a.yaml': [
        'name: One',
        'type: ROLE_BASD',
        'rules:',
        '  - resource: Article',
        '    action: raed',
        '    conditions:',
        '      - { field: resource.stauts, operator: eq, value: draft }',
        '      - { field: resource.status, operator: eqq, value: draft }',
        'users: [{ userId: x }]',
      ].join('\n'),
      'b.yaml': 'name: One\ntype: ROLE_BASED\nrules: []\n',
      'c.yaml': 'policies:\n  - { name: Two, type: ROLE_BASED, rules: [], tgas: [] }\n',
      'd.yaml': 'name: [',
    });
    expect(mistakes).toEqual([
      expect.stringMatching(/^policies\/a\.yaml:2:7 type: .*ROLE_BASED/),
      expect.stringMatching(/^policies\/a\.yaml:5:13 rules\.0\.action: .*/),
      expect.stringMatching(/^policies\/a\.yaml:7:18 rules\.0\.conditions\.0\.field: .*did you mean "status"/),
      expect.stringMatching(/^policies\/a\.yaml:8:45 rules\.0\.conditions\.1\.operator: .*did you mean "eq"/),
      expect.stringMatching(/^policies\/a\.yaml:9:8 users: expected only "roles"/),
      expect.stringMatching(/^policies\/b\.yaml:1:7 name: two policies have the name "One"/),
      expect.stringMatching(/^policies\/c\.yaml:2:\d+ tgas: .*did you mean "tags"/),
      expect.stringMatching(/^policies\/d\.yaml:\d+:\d+ /),
    ]);
  });
});
