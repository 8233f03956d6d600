/** The search and the filters of a list of records, and the screen of roles. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

function rows(page: Page) {
  return page.getByRole('table', { name: 'Article' }).locator('tbody tr');
}

async function choose(page: Page, list: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: list }).selectOption({ label: option });
}

function filterOf(page: Page): unknown {
  return JSON.parse(new URL(page.url()).searchParams.get('where') ?? '{}');
}

describe('a list of records', () => {
  it('the search finds records by the field that names them, and the address contains the text', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await rows(page).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('STADIUM');
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Who owns the stadium?')]);
    expect(filterOf(page)).toEqual({ title: { icontains: 'STADIUM' } });
    await page.reload();
    await rows(page).first().waitFor();
    await expect.poll(() => page.getByRole('searchbox', { name: 'Search by title' }).inputValue()).toBe('STADIUM');
    await page.getByRole('searchbox', { name: 'Search by title' }).fill('nothing like this');
    await page.getByRole('button', { name: 'Remove the filters' }).click();
    await expect.poll(() => rows(page).count()).toBeGreaterThan(3);
    await expect.poll(() => page.getByRole('searchbox', { name: 'Search by title' }).inputValue()).toBe('');
  });

  it('a phone sorts the list with a choice of the order', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article?sort=title', { as: story.admin, size: 'phone' });
    const cards = page.getByRole('list', { name: 'Article' }).getByRole('listitem');
    const order = page.getByRole('combobox', { name: 'Order' });
    await expect.poll(() => order.locator('option:checked').textContent()).toBe('title, ascending');
    const ascending = await cards.allTextContents();
    await order.selectOption({ label: 'title, descending' });
    await page.waitForURL((url) => url.searchParams.get('sort') === '-title');
    await expect.poll(() => cards.allTextContents()).toEqual(ascending.toReversed());
    await expectSoundScreen(page);
  });

  it('a filter by a reference has a picker of records, and shows the name of the record', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await choose(page, 'Field', 'authorId');
    await page.getByLabel('Value').first().click();
    await clickOption(page, /Tom Okafor/);
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => filterOf(page)).toEqual({ authorId: { eq: story.tom.id } });
    await expect.poll(async () => (await rows(page).allTextContents()).filter((row) => !row.includes('Tom Okafor'))).toEqual([]);
    await page.getByText('authorId is Tom Okafor').waitFor();
    await expectSoundScreen(page);
  });

  it('a filter by a time uses the local time of the browser', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await choose(page, 'Field', 'publishedAt');
    await choose(page, 'Operator', 'is after');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Enter a value').waitFor();
    await expectSoundScreen(page);
    // Berlin is one hour before UTC in winter.
    await page.getByLabel('Value').fill('2026-01-01T00:00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => filterOf(page)).toEqual({ publishedAt: { after: '2025-12-31T23:00:00Z' } });
  });

  it('a filter by one of several values offers those of the field', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await choose(page, 'Field', 'department');
    await choose(page, 'Operator', 'is one of');
    await page.getByLabel('Values').first().click();
    for (const value of ['sports', 'local']) await clickOption(page, value);
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => filterOf(page)).toEqual({ department: { in: ['sports', 'local'] } });
    await page.getByText('department is one of sports, local').waitFor();
  });

  it('a user who may not use the resource of a reference filters by an id', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.rita });
    await choose(page, 'Field', 'authorId');
    await page.getByLabel('Value').fill(story.tom.id);
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Final in the rain')]);
  });
});

describe('the form of a record', () => {
  it('edits a time as local time, and shows it in UTC', async ({ newsroom, story, visitor }) => {
    const author = { authorId: story.tom.id, publishedAt: '2026-01-14T21:40:00Z' };
    const id = await newsroom.createRecord('Article', { title: 'Timed', slug: 'timed', ...author });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    await expect.poll(() => page.getByLabel('publishedAt').inputValue()).toBe('2026-01-14T22:40');
    await page.getByText('2026-01-14 21:40:00 UTC').waitFor();
    await page.getByLabel('publishedAt').fill('2026-07-01T12:00:00');
    await page.getByText('2026-07-01 10:00:00 UTC').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The record was saved.').waitFor();
    const stored = await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token });
    expect(stored.at('data.publishedAt')).toBe('2026-07-01T10:00:00.000Z');
  });
});

describe('the roles', () => {
  it('the roles have their policies, and lead to their users', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/roles', { as: story.admin });
    const editor = page.getByRole('table', { name: 'Roles' }).getByRole('row').filter({ hasText: 'editor' });
    await editor.getByRole('link', { name: 'Editors: their department' }).waitFor();
    const anonymous = page.getByRole('table', { name: 'Roles' }).getByRole('row').filter({ hasText: 'Requests without a token' });
    expect(await anonymous.getByRole('link').allTextContents()).not.toContain('its users');
    await editor.getByRole('link', { name: 'its users' }).click();
    await page.getByRole('table', { name: 'Users' }).getByText('Maya Lindqvist').waitFor();
    expect(new URL(page.url()).search).toBe('?role=editor');
  });
});
