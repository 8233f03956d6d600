import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** The figure above the name of a class. */
const figureOf = (name: string): string => `//p[text()="${name}"]/preceding-sibling::p[1]`;

describe('the preview of a draft', () => {
  it('counts a decision that would change and one that is unknown, and explains both', async ({ newsroom, story, visitor }) => {
    const reader = await newsroom.user({ name: 'Previewed Reader' });
    const note = { resource: 'Comment', action: 'create', description: 'comments of a reader' };
    const policyId = await newsroom.createPolicy({ name: 'Comments of a reader', userId: reader.id, priority: 900, rules: [note] });
    const body = { articleId: story.articles.get('harbour-reopens'), text: 'Hello' };
    const first = await newsroom.call('POST', '/api/Comment', { token: reader.token, body });
    expect(first.status).toBe(201);
    await newsroom.call('GET', `/api/Article/${story.articles.get('harbour-reopens')}`, { token: reader.token });

    // The comment would be denied. No rule has read the fee of the article, so the audit log did not keep it.
    const denies = [
      { resource: 'Comment', action: 'create', effect: 'DENY', priority: 999 },
      {
        ...{ resource: 'Article', action: 'read', effect: 'DENY', priority: 999 },
        conditions: [{ field: 'resource.fee', operator: 'gt', value: '100', ifExists: true }],
      },
    ];
    const draft = { policies: [{ id: policyId, rules: denies }] };
    const page = await visitor.open(newsroom, '/preview', { as: story.admin });
    await page.getByText('There is no draft').waitFor();
    await page.getByText('24 hours').click();
    // The first click after the draft was typed must not be lost.
    await page.getByLabel('Draft (JSON)').fill(JSON.stringify(draft));
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/^\d+ decisions replayed$/).waitFor();
    await expect.poll(() => page.locator(figureOf('allowed before, denied now')).textContent()).toBe('1');
    await expect.poll(() => page.locator(figureOf('unknown')).textContent()).toBe('1');
    await page.getByText('create Comment').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Show both traces' }).click();
    const dialog = page.getByRole('dialog', { name: /create Comment/ });
    await dialog.getByText('allowed by rule').first().waitFor();
    await dialog.getByText('denied by a new rule').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: /^unknown/ }).click();
    await page.getByText('Values that were not kept: resource.fee').waitFor();
  });
});
