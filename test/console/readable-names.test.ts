/** Names instead of ids and technical texts: users, browsers, operators. */
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';

describe('names', () => {
  it('a finding names the user of an assignment', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/findings?code=expires-soon', { as: story.admin });
    await page.getByText(/the assignment to user Maya Lindqvist expires/).waitFor();
    expect(await page.getByRole('main').textContent()).not.toContain(story.maya.id);
    // With the keyboard, the card of a finding opens what it is about.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Findings' }).waitFor();
    expect(new URL(page.url()).searchParams.get('tab')).toBe('assignments');
  });

  it('the screen of findings shows those of a later page if the first page has none', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    const cursors: (string | null)[] = [];
    await page.route('**/admin/api/policies-advice?*code=*', (route) => {
      const url = new URL(route.request().url());
      cursors.push(url.searchParams.get('cursor'));
      // The findings of one policy.
      url.searchParams.set('limit', '1');
      return route.continue({ url: url.href });
    });
    await page.goto(`${newsroom.console}/findings?code=expires-soon`);
    await page.getByText(/the assignment to user Maya Lindqvist expires/).waitFor();
    expect(cursors.length).toBeGreaterThan(1);
  });

  it('an entry names its caller, with the email and the id, and the trace has the labels of operators', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const path = `/api/Article/${story.articles.get('a-budget-at-last')}`;
    const reply = await newsroom.call('PUT', path, { token: story.tom.token, body: { status: 'draft' } });
    const page = await visitor.open(newsroom, `/decisions/${reply.headers['x-decision-id']}`, { as: story.admin });
    await page.getByText('resource.department is ${user.department} ("sports"), but the value is "politics"').waitFor();
    const text = await page.getByRole('main').textContent();
    for (const part of ['Tom Okafor', story.tom.email, story.tom.id]) expect(text).toContain(part);
    await page.getByRole('link', { name: 'Tom Okafor' }).click();
    await page.getByRole('heading', { name: 'Tom Okafor' }).waitFor();
  });

  it('a session names the browser and the system, and a tooltip the whole text', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    const userAgent = await page.evaluate<string>('navigator.userAgent');
    const [, version] = /Chrome\/(\d+)/.exec(userAgent) ?? [];
    // The test signs in with the same browser, but not from the page.
    const session = page.getByText(`Chrome ${version} on Linux`).first();
    await session.hover();
    await page.getByRole('tooltip', { name: userAgent }).waitFor();
  });
});
