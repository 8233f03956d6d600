import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
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

  it('reports a subfolder, whose policies would never be in force', async () => {
    const loaded = await withFolder({ 'one.yaml': ONE }, async (folder) => {
      mkdirSync(join(folder, 'deny'));
      mkdirSync(join(folder, '.git'));
      symlinkSync('deny', join(folder, 'allow'));
      return loadPolicyFiles(folder, { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 });
    });
    expect(loaded.policies).toEqual([]);
    const mistake = { path: '', detail: 'expected no subfolder: files in it are not loaded' };
    expect(loaded.mistakes).toEqual(['policies/allow', 'policies/deny'].map((file) => ({ file, ...mistake })));
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
      expect.stringMatching(
        /^policies\/b\.yaml:1:7 name: two policies have the name "One": expected each name once; the first is in policies\/a\.yaml:1$/,
      ),
      expect.stringMatching(
        /^policies\/c\.yaml:2:\d+ tgas: .*did you mean "tags".*, expected name, type, rules, description, isActive, priority, tags, roles$/,
      ),
      expect.stringMatching(/^policies\/d\.yaml:\d+:\d+ /),
    ]);
  });

  it('reports a role that is listed twice, at the second one', async () => {
    const roles = 'roles: [{ role: user }, { role: viewer }, { role: user, priority: 7 }]\n';
    const found = await mistakesOf({ 'a.yaml': `name: One\ntype: ROLE_BASED\nrules: []\n${roles}` });
    expect(found).toEqual(['policies/a.yaml:4:43 roles.2: the policy is assigned to role "user" twice: expected each role once']);
  });

  it('lists neither ids nor members that the service sets if a member of a rule is unknown, and accepts them as an export has them', async () => {
    const rule = '{ id: 1, policyId: 2, createdAt: 3, resource: Article, action: read, efect: DENY }';
    const [mistake, ...others] = await mistakesOf({ 'a.yaml': `name: One\nid: 7\nversion: 2\ntype: ROLE_BASED\nrules:\n  - ${rule}\n` });
    expect(mistake).toMatch(/rules\.0\.efect: .*"effect".*expected resource, action, effect, conditions, priority, description, isActive$/);
    expect(others).toEqual([]);
  });

  it('reports a mistake in an anchored node once, and a mistake that only an alias makes at the alias', async () => {
    const mistakes = await mistakesOf({
      'a.yaml': [
        'name: One',
        'type: ATTRIBUTE_BASED',
        'rules:',
        '  - resource: Article',
        '    action: read',
        '    conditions: &own',
        '      - { field: resource.stauts, operator: eq, value: draft }',
        '      - { field: resource.email, operator: exists, value: true }',
        '  - { resource: Article, action: list, conditions: *own }',
        '  - { resource: User, action: read, conditions: *own }',
      ].join('\n'),
    });
    expect(mistakes).toEqual([
      expect.stringMatching(/^policies\/a\.yaml:7:18 rules\.0\.conditions\.0\.field: resource Article has no field "stauts"/),
      expect.stringMatching(/^policies\/a\.yaml:8:18 rules\.0\.conditions\.1\.field: resource Article has no field "email"/),
      expect.stringMatching(/^policies\/a\.yaml:10:49 rules\.2\.conditions\.0\.field: resource User has no field "stauts"/),
    ]);
  });

  it('names the field that a wrong name was renamed to', async () => {
    const rule = '{ resource: Article, action: read, conditions: [{ field: resource.content, operator: exists, value: true }] }';
    const mistakes = await mistakesOf({
      'a.yaml': `name: One\ntype: ATTRIBUTE_BASED\nrules: [${rule}]\n`,
      'a.test.yaml': 'records: { Article: { a: { content: x } } }\ntests: []\n',
    });
    expect(mistakes).toEqual([
      expect.stringContaining('has no field "content" (it is now named "body")'),
      expect.stringContaining('has no field "content" (it is now named "body")'),
    ]);
  });
});
