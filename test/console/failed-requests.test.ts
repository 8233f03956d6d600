/** Requests that fail: the console says so, and states no fact that it does not know. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Lets the requests for a path fail. Returns a function that ends this. */
async function fail(page: Page, path: string): Promise<() => Promise<void>> {
  await page.route(path, (route) =>
    route.fulfill({ status: 503, json: { title: 'Not available', status: 503, code: 'STORAGE_UNAVAILABLE' } }),
  );
  return () => page.unroute(path);
}

/** Presses the button of the problem that repeats its request. */
async function retry(page: Page): Promise<void> {
  await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).first().getByRole('button', { name: 'Retry' }).click();
}

describe('a failure', () => {
  it.for([
    ['/', 'Decisions'],
    ['/decisions', 'Decisions'],
    ['/data', 'Records'],
  ] as const)(
    'a failed request for the rights of an auditor is shown at %s, and can be repeated',
    async ([path, heading], { newsroom, visitor }) => {
      const auditor = await newsroom.user({ name: 'Uma Unknown' });
      await newsroom.createPolicy({ userId: auditor.id, rules: [{ resource: '_Decision', action: 'read' }] });
      visitor.allow(/^response 503/);
      const page = await visitor.open(newsroom, '/account', { as: auditor });
      const end = await fail(page, '**/auth/me/catalogue');
      await page.goto(`${newsroom.console}${path}`);
      await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).first().waitFor();
      expect(await page.getByText('This screen is for readers of the audit log').count()).toBe(0);
      await end();
      await retry(page);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
  );

  it('a failed request for the template of a new policy is shown, and can be repeated', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^response 503/);
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    const end = await fail(page, '**/admin/api/policies-templates');
    await page.goto(`${newsroom.console}/policies/new?template=own-records`);
    await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).waitFor();
    await end();
    await retry(page);
    await page.getByRole('textbox', { name: 'Name' }).waitFor();
  });

  it('a failed validation of a policy is shown, and not that it has no mistakes', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^response 503/);
    const rules = [{ resource: 'Tip', action: 'read', description: 'read tips' }];
    const id = await newsroom.createPolicy({ name: 'not validated', rules });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.waitFor();
    const end = await fail(page, '**/admin/api/policies/validate');
    await description.fill('changed');
    await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).waitFor();
    expect(await page.getByText('no mistakes').count()).toBe(0);
    await end();
    await retry(page);
    await page.getByText('no mistakes').waitFor();
  });

  it('a change of several records whose answer is lost may have been made, and the next attempt is about the present records', async ({
    newsroom,
    story,
    visitor,
  }) => {
    visitor.allow(/^request failed: POST .*\/api\/batch/);
    for (const slug of ['lost-one', 'lost-two']) {
      await newsroom.createRecord('Article', { title: `Lost answer ${slug}`, slug, authorId: story.tom.id });
    }
    const where = encodeURIComponent(JSON.stringify({ title: { icontains: 'lost answer' } }));
    const page = await visitor.open(newsroom, `/data/Article?where=${where}`, { as: story.admin });
    await page.getByRole('checkbox', { name: 'Select Lost answer lost-one' }).check();
    await page.getByRole('checkbox', { name: 'Select Lost answer lost-two' }).check();
    await page.getByRole('button', { name: 'Change a field' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change a field of 2 records' });
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption('fee');
    await dialog.getByRole('textbox', { name: 'fee' }).fill('7.50');
    await page.route('**/api/batch', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'The change may have been made.' }).waitFor();
    await page.unroute('**/api/batch');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await page.getByText('2 records were changed.').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'refused' }).count()).toBe(0);
  });

  it('a creation whose answer is lost may have been made, and is not repeated', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^request failed: POST .*\/api\/Tip/);
    const page = await visitor.open(newsroom, '/data/Tip/new', { as: story.admin });
    await page.getByRole('textbox', { name: 'subject', exact: true }).fill('Created once');
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('Sent once');
    await page.route('**/api/Tip', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: 'The record may have been created.' }).waitFor();
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await expectSoundScreen(page);
    await page.getByRole('link', { name: 'Back to the records of Tip' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('link', { name: 'Created once' }).waitFor();
  });

  it('a search of a picker that failed is shown, can be repeated, and does not offer the typed name as an id', async ({
    newsroom,
    story,
    visitor,
  }) => {
    visitor.allow(/^response 503/);
    const page = await visitor.open(newsroom, '/data/Tip/new', { as: story.admin });
    const end = await fail(page, '**/api/User/list');
    const picker = page
      .getByRole('combobox', { name: 'editorId' })
      .or(page.getByRole('textbox', { name: 'editorId' }))
      .first();
    await picker.fill('Tom');
    await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
    expect(await page.getByText('none', { exact: true }).count()).toBe(0);
    await expectSoundScreen(page);
    await end();
    await retry(page);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await picker.click();
    await page.getByRole('option', { name: /Tom/ }).first().waitFor();
  });
});
