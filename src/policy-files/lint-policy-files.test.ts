import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { lintPolicyFiles, printFinding } from './lint-policy-files.ts';
import { loadPolicyFiles } from './load-policy-files.ts';
import { DEFINITIONS, POLICIES, withFolder } from './policy-folder.fixture.ts';

function lint(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return withFolder(files, async (folder) => {
    const loaded = loadPolicyFiles(folder, { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 });
    const project = { definitions: DEFINITIONS, policies: loaded.policies, limits: LIMITS, timeZone: 'UTC' };
    return (await lintPolicyFiles(project, loaded)).map(printFinding);
  });
}

describe('lintPolicyFiles', () => {
  it('reports findings with the file, line and column of the rule, also about rules of two files', async () => {
    const other = [
      'policies:',
      '  - name: Others',
      '    type: ROLE_BASED',
      '    roles: [{ role: user }]',
      '    rules:',
      '      - { resource: Artcle, action: read }',
      '      - { resource: Article, action: delete, effect: DENY, description: never }',
    ].join('\n');
    const conflict = expect.stringMatching(/^policies\/a\.yaml:\d+:\d+ conflict: .* \(give one of the two a higher priority\)$/);
    expect(await lint({ 'a.yaml': POLICIES, 'b.yaml': other })).toEqual([
      expect.stringMatching(/^policies\/b\.yaml:6:\d+ unknown-resource: /),
      conflict,
    ]);
  });

  it('reports nothing about assignments, which files do not contain', async () => {
    expect(await lint({ 'a.yaml': POLICIES })).toEqual([]);
  });
});
