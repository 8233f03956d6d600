/** The audit log for users who are not admins: a rule on `_Decision` opens its screen, without explanations and links to screens of admins. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { TestUser } from '../harness.ts';
import { type ConsoleService, it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

const ABOUT_ARTICLES = { field: 'resource.resource', operator: 'eq', value: 'Article' };

/** Creates a user who may perform these actions on the entries about articles. */
async function createAuditor(newsroom: ConsoleService, ...actions: readonly string[]): Promise<TestUser> {
  const auditor = await newsroom.user({ name: 'Noor Aziz' });
  const rules = actions.map((action) => ({ resource: '_Decision', action, conditions: [ABOUT_ARTICLES] }));
  await newsroom.createPolicy({ userId: auditor.id, rules });
  return auditor;
}

const rows = (page: Page) => page.getByRole('table', { name: 'Decisions' }).locator('tbody tr').filter({ hasText: /\S/ });

describe('the first screen', () => {
  it('the console opens the audit log for an auditor', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: await createAuditor(newsroom, 'read') });
    await page.getByRole('heading', { name: 'Decisions', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/decisions');
  });

  it('the console tells any other user after the sign-in what they may do', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.getByRole('textbox', { name: 'Email' }).fill(story.rita.email);
    await page.getByLabel(/^Password/).fill(story.rita.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Records', level: 1 }).waitFor();
    await page
      .getByText(/^You may /)
      .first()
      .waitFor();
    expect(await page.getByText('admins').count()).toBe(0);
    await page.goBack();
    expect(new URL(page.url()).pathname).not.toBe('/console/');
  });
});

describe('an auditor', () => {
  it('sees the entries that a rule allows, and neither explanations nor screens of admins', async ({ newsroom, story, visitor }) => {
    const auditor = await createAuditor(newsroom, 'read');
    const page = await visitor.open(newsroom, '/decisions?range=24h', { as: auditor });
    await rows(page).filter({ hasText: 'Article' }).first().waitFor();
    expect(await rows(page).filter({ hasText: 'Comment' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Decisions', 'Records']);
    expect(await page.getByRole('button', { name: 'Verify integrity' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: 'Export' }).getAttribute('aria-disabled')).toBe('true');
    await expectSoundScreen(page);
    await page.getByTitle('Show only Decision denied').click();
    await rows(page).filter({ hasText: 'denied' }).filter({ hasText: story.tom.id }).first().click();
    const drawer = page.getByRole('dialog', { name: 'Decision' });
    await drawer.getByText('The explanation and the values that the conditions read are for admins.').waitFor();
    expect(await drawer.getByRole('link').count()).toBe(0);
    expect(await drawer.getByRole('button', { name: 'Decide again under the present policies' }).count()).toBe(0);
    await expectSoundScreen(page);
  });

  it('exports with a rule, and follows new entries', async ({ newsroom, story, visitor }) => {
    const auditor = await createAuditor(newsroom, 'read', 'export');
    const page = await visitor.open(newsroom, '/decisions?range=24h', { as: auditor });
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'NDJSON' }).click()]);
    expect(download.suggestedFilename()).toBe('decisions.ndjson');
    await page.getByRole('switch', { name: 'Follow live' }).check({ force: true });
    await page.getByText('Waiting for the next entry').waitFor();
    const readArticles = async (): Promise<number> => {
      await newsroom.call('GET', '/api/Article', { token: story.tom.token });
      return rows(page).filter({ hasText: 'Article' }).count();
    };
    await expect.poll(readArticles, { interval: 500, timeout: 20_000 }).toBeGreaterThan(0);
  });

  it('the address of an entry opens it', async ({ newsroom, story, visitor }) => {
    const auditor = await createAuditor(newsroom, 'read');
    const reply = await newsroom.call('GET', '/api/Article', { token: story.tom.token });
    const page = await visitor.open(newsroom, `/decisions/${reply.headers['x-decision-id']}`, { as: auditor });
    await page.getByText('The explanation and the values that the conditions read are for admins.').waitFor();
    await page.getByText(story.tom.id).first().waitFor();
  });

  it('the screen tells a user without a rule how to get one', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions', { as: await newsroom.user() });
    await page.getByText('This screen is for readers of the audit log').waitFor();
    await expect.poll(() => page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Records']);
    await expectSoundScreen(page);
  });
});
