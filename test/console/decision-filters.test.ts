/** Filters of the audit log: values that facets, cells and entries select or exclude. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

const rows = (page: Page) => page.getByRole('table', { name: 'Decisions' }).locator('tbody tr').filter({ hasText: /\S/ });
/** Returns the texts of the filters in the bar. */
const pills = (page: Page): Promise<readonly string[]> =>
  page
    .getByRole('button', { name: /^Remove the filter by/ })
    .locator('xpath=preceding-sibling::span')
    .allInnerTexts();

/** Opens the menu of a cell. The pointer shows it, but rows move while they are loaded. */
async function openMenu(page: Page, row: Locator, column: string): Promise<void> {
  const button = page.getByRole('button', { name: `Filter by the values of ${column}` });
  await expect
    .poll(async () => {
      // A pointer that stays where it is enters no row that moves below it.
      await page.mouse.move(0, 0);
      await row.hover();
      return button.waitFor({ timeout: 2000 }).then(
        () => 'shown',
        () => 'not shown',
      );
    })
    .toBe('shown');
  await button.click();
}

describe('excluded values', () => {
  it('a facet excludes a value, the address keeps it, and its pill removes it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&kind=access', { as: story.admin });
    await page.getByRole('button', { name: 'Exclude Resource Article' }).click();
    await expect.poll(() => pills(page)).toEqual(['Kind: access', 'Resource: not Article']);
    await expect.poll(() => rows(page).filter({ hasText: 'Article' }).count()).toBe(0);
    await expect.poll(() => rows(page).filter({ hasText: 'Comment' }).count()).toBeGreaterThan(0);
    await page.reload();
    await expect.poll(() => pills(page)).toEqual(['Kind: access', 'Resource: not Article']);
    await expect.poll(() => rows(page).filter({ hasText: 'Comment' }).count()).toBeGreaterThan(0);
    expect(await rows(page).filter({ hasText: 'Article' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the filter by Resource not Article' }).click();
    await expect.poll(() => rows(page).filter({ hasText: 'Article' }).count()).toBeGreaterThan(0);
    expect(await pills(page)).toEqual(['Kind: access']);
  });

  it('the menu of a cell selects a value and excludes another', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&kind=access', { as: story.admin });
    await openMenu(page, rows(page).filter({ hasText: 'Comment' }).first(), 'Request');
    await page.getByRole('menuitem', { name: 'Show only Resource Comment' }).click();
    await expect.poll(() => rows(page).filter({ hasText: 'Article' }).count()).toBe(0);
    await openMenu(page, rows(page).filter({ hasText: 'Rita Sommer' }).first(), 'Caller');
    await page.getByRole('menuitem', { name: 'Exclude User Rita Sommer' }).click();
    await expect.poll(() => pills(page)).toEqual(['Kind: access', 'Resource: Comment', 'User: not Rita Sommer']);
    expect(new URL(page.url()).searchParams.get('not')).toBe(JSON.stringify({ userId: [story.rita.id] }));
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('the keyboard reaches the menu of a cell', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&kind=access', { as: story.admin });
    await rows(page).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /^Show only Decision/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('allowed=');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('an open entry excludes its values', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&resource=Tip', { as: story.admin });
    await rows(page).filter({ hasText: 'denied' }).first().click();
    await page.getByRole('dialog', { name: 'Decision' }).getByRole('button', { name: 'Exclude Action list' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('No entry matches').waitFor();
    expect(await pills(page)).toEqual(['Resource: Tip', 'Action: not list']);
  });

  it('the live tail leaves out excluded values', async ({ newsroom, story, visitor }) => {
    const not = encodeURIComponent(JSON.stringify({ resource: ['Comment'] }));
    // A link that follows the log: names come with the entries.
    const page = await visitor.open(newsroom, `/decisions?live=true&kind=access&not=${not}`, { as: story.admin });
    await page.getByText('Waiting for the next entry').waitFor();
    const readBoth = async (): Promise<number> => {
      await newsroom.call('GET', '/api/Comment', { token: story.tom.token });
      await newsroom.call('GET', '/api/Article', { token: story.tom.token });
      return rows(page).filter({ hasText: 'Article' }).count();
    };
    await expect.poll(readBoth, { interval: 500, timeout: 20_000 }).toBeGreaterThan(1);
    expect(await rows(page).filter({ hasText: 'Comment' }).count()).toBe(0);
    await rows(page).filter({ hasText: 'Tom Okafor' }).first().waitFor();
    await expect.poll(() => rows(page).filter({ hasText: story.tom.id }).count()).toBe(0);
  });
});

describe('reads of admins', () => {
  const reads = (page: Page): Promise<number> => rows(page).filter({ hasText: '/admin/api/' }).count();

  it('the log shows them and refreshes only when asked to, says so in the address, and remembers it', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const page = await visitor.open(newsroom, '/decisions?range=1h', { as: story.admin });
    const refreshes = (): Promise<number> => rows(page).filter({ hasText: 'refresh Auth' }).count();
    await page.getByText('without reads of the admin API and refreshes of sessions').waitFor();
    await rows(page).first().waitFor();
    expect([await reads(page), await refreshes()]).toEqual([0, 0]);
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Show reads of the admin API' }).click();
    await expect.poll(() => reads(page)).toBeGreaterThan(0);
    expect(page.url()).toContain('adminReads=true');
    expect(await refreshes()).toBe(0);
    await page.getByRole('button', { name: 'Hide reads of the admin API' }).click();
    await expect.poll(() => reads(page)).toBe(0);
    // The number beside a value is that of the entries after a click on it.
    const value = page.getByTitle('Show only Kind auth', { exact: true });
    const count = await value.getByText(/^[\d,]+$/).textContent();
    await value.click();
    await page.getByText(`${count} entries, without`).waitFor();
    await page.getByRole('button', { name: 'Show refreshes of sessions' }).click();
    await expect.poll(refreshes).toBeGreaterThan(0);
    // The screen opens from the navigation as it was left.
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: 'Decisions', exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?refreshes=true');
    await page.getByRole('button', { name: 'Hide refreshes' }).click();
    await expect.poll(refreshes).toBe(0);
    expect(new URL(page.url()).search).toBe('');
  });

  it('the live tail shows only denied ones', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions', { as: story.admin });
    await page.getByRole('switch', { name: 'Follow live' }).check({ force: true });
    await page.getByText('Waiting for the next entry').waitFor();
    const readBoth = async (): Promise<number> => {
      await newsroom.call('GET', '/admin/api/policies', { token: story.admin.token });
      await newsroom.call('GET', '/admin/api/policies', { token: story.tom.token });
      return rows(page).filter({ hasText: 'denied' }).count();
    };
    await expect.poll(readBoth, { interval: 500, timeout: 20_000 }).toBeGreaterThan(1);
    expect(await rows(page).filter({ hasText: 'allowed' }).count()).toBe(0);
  });

  it('a saved view opens with the reads that it was saved with', async ({ newsroom, story, visitor }) => {
    const path = (name: string) => `/auth/me/views?name=${name}`;
    const token = story.admin.token;
    // As views were saved before reads could be hidden.
    await newsroom.call('PUT', path('Earlier'), { token, body: { screen: 'decisions', query: { range: '1h' } } });
    const page = await visitor.open(newsroom, '/decisions?range=1h', { as: story.admin });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    await page.getByLabel('Name of the view').fill('Without');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The view was saved').waitFor();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Earlier', exact: true }).click();
    await expect.poll(() => reads(page)).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Without', exact: true }).click();
    await expect.poll(() => reads(page)).toBe(0);
  });
});

describe('the search', () => {
  it('finds the entries of a request by its id, and the menu adds filters and the order', async ({ newsroom, story, visitor }) => {
    const { headers } = await newsroom.call('GET', '/api/Tip', { token: story.tom.token });
    const requestId = String(headers['x-request-id']);
    const page = await visitor.open(newsroom, '/decisions?range=1h&role=admin', { as: story.admin });
    await rows(page).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('no-such-id');
    await page.keyboard.press('Enter');
    await page.getByText('No entry has this id or address').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(requestId);
    await page.keyboard.press('Enter');
    await expect.poll(() => pills(page)).toEqual([`Request id: ${requestId}`]);
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.goto(`${newsroom.console}/decisions?range=1h`);
    await page.getByRole('button', { name: 'Add a filter' }).click();
    await page.getByRole('menuitem', { name: 'Resource' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a filter' });
    await dialog.getByRole('combobox', { name: 'Resource' }).fill('Comm');
    await clickOption(dialog, /Comment/);
    await dialog.getByRole('switch', { name: 'Leave out these entries' }).check({ force: true });
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => pills(page)).toEqual(['Resource: not Comment']);
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Oldest first');
    await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('oldest');
    // The first entry of a service is its set-up.
    await expect.poll(() => rows(page).first().textContent()).toContain('created policy "Administrators');
  });

  it('a time is chosen in the charts and in fields, and the address has it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: story.admin });
    const time = (name: 'from' | 'to'): number => Date.parse(new URL(page.url()).searchParams.get(name) ?? '');
    await selectPart(page);
    await page.getByRole('heading', { name: 'Decisions', level: 1 }).waitFor();
    const [from, to] = [time('from'), time('to')];
    expect(from).toBeLessThan(to);
    await page.getByText(/ entr(y|ies), without/).waitFor();
    await selectPart(page);
    await expect.poll(() => time('from')).toBeGreaterThan(from);
    await expect.poll(() => time('to')).toBeLessThan(to);
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field('From').fill('2020-01-31T10:00:00');
    await field('To').fill('2019-01-31T10:00:00');
    await field('To').press('Enter');
    await page.getByText('Choose a time after the start').waitFor();
    await expectSoundScreen(page);
    await field('To').fill('2020-02-01T00:00:00');
    await field('To').press('Enter');
    await page.getByText('No entry matches').waitFor();
    expect(await page.evaluate("new Date('2020-01-31T10:00:00').getTime()")).toBe(time('from'));
    await page.reload();
    await expect.poll(() => field('To').inputValue()).toMatch(/^2020-02-01T00:00/);
  });
});

/** Selects the middle of the chart with the pointer. */
async function selectPart(page: Page): Promise<void> {
  const plot = page.locator('.uplot .u-over');
  await plot.waitFor();
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width * 0.3, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.7, y + height / 2, { steps: 4 });
  await page.mouse.up();
}

describe('on a phone', () => {
  it('facets open with a button that tells the number of filters', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&kind=access', { as: story.admin, size: 'phone' });
    await rows(page).first().waitFor();
    await expectSoundScreen(page);
    expect(await page.getByRole('button', { name: 'Exclude Resource Article' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Filter · 1 active' }).click();
    const facets = page.getByRole('dialog', { name: 'Filter' });
    await facets.getByRole('button', { name: 'Exclude Resource Article' }).click();
    await facets.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Filter · 2 active' }).waitFor();
  });
});
