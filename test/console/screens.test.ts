import { describe, expect } from 'vitest';
import { compressedSize, FILE_LIMIT, loadedAssets, screenLimit } from './bundle-size.ts';
import { it } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { waitForData } from './page-requests.ts';
import { expectSoundInBothSchemes } from './screen-checks.ts';

/** The address and the heading of each screen. */
const SCREENS: Readonly<Record<string, readonly [heading: string, path: (story: Story) => string]>> = {
  overview: ['Overview', () => '/'],
  account: ['Your account', () => '/account'],
  decisions: ['Decisions', () => '/decisions?range=24h'],
  simulator: [
    'Simulator',
    ({ tom, articles }) => `/simulator?user=${tom.id}&resource=Article&action=update&id=${articles.get('a-budget-at-last')}`,
  ],
  'access of roles': ['Access matrix', () => '/access'],
  'users who can': [
    'Access matrix',
    ({ articles }) => `/access?tab=whoCan&resource=Article&action=update&id=${articles.get('a-budget-at-last')}`,
  ],
  'permissions of a user': ['Access matrix', ({ maya }) => `/access?tab=permissions&user=${maya.id}`],
  resources: ['Records', () => '/data'],
  records: ['Article', () => '/data/Article'],
  'one record': ['A budget at last', ({ articles }) => `/data/Article/${articles.get('a-budget-at-last')}`],
  'a new record': ['Article', () => '/data/Article/new'],
  policies: ['Policies', () => '/policies'],
  'a new policy': ['New policy', () => '/policies/new?template=own-records'],
  'the import of policies': ['Import policies', () => '/policies/import'],
  'the changes of policies': ['Changes of policies', () => '/policies/changes'],
  'the rules of a policy': ['Tips: senior editors on weekdays', ({ policies }) => policyPath(policies)],
  'a rule of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?at=rules.0`],
  'the text of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?tab=text`],
  'the preview of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?tab=preview`],
  'the assignments of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?tab=assignments`],
  'the history of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?tab=history`],
  'the findings of a policy': ['Tips: senior editors on weekdays', ({ policies }) => `${policyPath(policies)}?tab=findings`],
  assignments: ['Assignments', () => '/assignments'],
  findings: ['Findings', () => '/findings'],
  users: ['Users', () => '/users'],
  roles: ['Roles', () => '/roles'],
  'one user': ['Maya Lindqvist', ({ maya }) => `/users/${maya.id}`],
  migrations: ['Migrations', () => '/storage'],
  system: ['System', () => '/system'],
};

function policyPath(policies: Story['policies']): string {
  return `/policies/${policies.get('Tips: senior editors on weekdays')}`;
}

describe('every screen', () => {
  it.for(Object.entries(SCREENS))(
    'the screen of %s is accessible, fits a phone, loads no more than its limits and reports no problem',
    async ([name, [heading, path]], { newsroom, story, visitor }) => {
      const page = await visitor.open(newsroom, path(story), { as: story.admin });
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await waitForData(page);
      const assets = await loadedAssets(page);
      expect(assets.length).toBeGreaterThan(3);
      expect(compressedSize(assets)).toBeLessThanOrEqual(screenLimit(name));
      expect(assets.filter((path) => /\.(css|js)$/.test(path)).length).toBeLessThanOrEqual(FILE_LIMIT);
      await expectSoundInBothSchemes(page);
    },
  );
});
