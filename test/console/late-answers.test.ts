/** Answers that arrive after the user has left the screen of their request. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it, startConsole } from './console.fixture.ts';
import { hold } from './held-requests.ts';
import { clickOption } from './options.ts';
import { waitForData } from './page-requests.ts';

/** Leaves a form with unsaved changes after the question. */
async function leave(page: Page): Promise<void> {
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
}

function heading(page: Page, name: string): Promise<void> {
  return page.getByRole('heading', { name, level: 1 }).waitFor();
}

describe('a screen that the user has left', () => {
  it('a new record that is being created is left after a question, and does not open later', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Comment/new', { as: story.admin });
    const request = await hold(page, 'POST', '**/api/Comment');
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('Created late');
    await page.getByLabel('articleId').first().click();
    await clickOption(page, /./);
    await page.getByRole('button', { name: 'Create' }).click();
    await request.sent();
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await leave(page);
    await heading(page, 'Policies');
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('typed meanwhile');
    await request.pass();
    await page.getByText('The record was created.').waitFor();
    await waitForData(page);
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('typed meanwhile');
  });

  it('a former screen is not opened by a policy that is created late', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/policies', { as: story.admin });
    await page.getByRole('link', { name: 'New policy' }).click();
    const request = await hold(page, 'POST', '**/admin/api/policies');
    await page.getByRole('textbox', { name: 'Name' }).fill('created late');
    await page.getByRole('button', { name: 'Create…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await request.sent();
    await page.goBack();
    await leave(page);
    await heading(page, 'Policies');
    await request.pass();
    await page.getByText('The policy was created.').waitFor();
    await waitForData(page);
    expect(new URL(page.url()).pathname).toBe('/console/policies');
  });

  it('a former screen is not opened by a policy that is deleted late', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({
      name: 'deleted late',
      rules: [{ resource: 'Tip', action: 'read', description: 'read tips' }],
    });
    const page = await visitor.open(newsroom, '/roles', { as: story.admin });
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('link', { name: 'deleted late' }).click();
    const request = await hold(page, 'DELETE', `**/policies/${id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('textbox', { name: 'Type deleted late to confirm' }).fill('deleted late');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await request.sent();
    await page.evaluate('history.go(-2)');
    await heading(page, 'Roles');
    await request.pass();
    await page.getByText('The policy was deleted.').waitFor();
    await waitForData(page);
    expect(new URL(page.url()).pathname).toBe('/console/roles');
  });

  it('a screen is not left by a search of entries that ends late', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions', { as: story.admin });
    const id = story.articles.get('harbour-reopens') ?? '';
    const request = await hold(page, 'GET', `**/admin/api/decisions?recordId=${id}&limit=1`);
    const search = page.getByRole('searchbox', { name: 'Id of a request' });
    await search.fill(id);
    await search.press('Enter');
    await request.sent();
    await page.getByRole('link', { name: 'Roles', exact: true }).click();
    await heading(page, 'Roles');
    await request.pass();
    await waitForData(page);
    expect(new URL(page.url()).pathname).toBe('/console/roles');
  });

  it('a former screen is not opened by a record that is restored late', async ({ visitor, onTestFinished }) => {
    const definition = 'name: Note\nsoftDelete: true\nfields:\n  title: { type: string, required: true }\n';
    const service = await startConsole({ definitions: { 'Note.yaml': definition } });
    onTestFinished(() => service.close());
    const admin = await service.admin();
    const id = await service.createRecord('Note', { title: 'restored late' });
    await service.call('DELETE', `/api/Note/${id}`, { token: admin.token });
    const page = await visitor.open(service, `/data/Note/${id}?deleted=true`, { as: admin });
    const request = await hold(page, 'POST', '**/api/Note/restore');
    await page.getByRole('button', { name: 'Restore' }).click();
    await request.sent();
    await page.getByRole('link', { name: 'Roles', exact: true }).click();
    await heading(page, 'Roles');
    await request.pass();
    await page.getByText('The record was restored.').waitFor();
    await waitForData(page);
    expect(new URL(page.url()).pathname).toBe('/console/roles');
  });

  it('a former screen is not opened by a policy that is restored late', async ({ newsroom, story, visitor }) => {
    const rules = [{ resource: 'Tip', action: 'read', description: 'read tips' }];
    const id = await newsroom.createPolicy({ name: 'restored late', rules });
    await newsroom.call('DELETE', `/admin/api/policies/${id}`, { token: story.admin.token });
    const page = await visitor.open(newsroom, '/roles', { as: story.admin });
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('link', { name: 'Changes' }).click();
    const request = await hold(page, 'POST', `**/policies/${id}/rollback`);
    await page.getByRole('button', { name: 'Restore the policy' }).first().click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Reason' }).fill('late');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore the policy' }).click();
    await request.sent();
    await page.evaluate('history.go(-2)');
    await heading(page, 'Roles');
    await request.pass();
    await page.getByText('The policy was restored.').waitFor();
    await waitForData(page);
    expect(new URL(page.url()).pathname).toBe('/console/roles');
  });

  it('a screen is not left by the first decision that comes late', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/first-steps', { as: story.admin });
    const request = await hold(page, 'GET', '**/api/*?limit=0');
    await page.getByRole('button', { name: /^List .* and open the decision$/ }).click();
    await request.sent();
    await page.getByRole('link', { name: 'Roles', exact: true }).click();
    await heading(page, 'Roles');
    const answered = page.waitForResponse('**/api/*?limit=0');
    await request.pass();
    await answered;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(new URL(page.url()).pathname).toBe('/console/roles');
  });

  it('an integrity check ends with its screen', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions', { as: story.admin });
    const request = await hold(page, 'GET', '**/admin/api/decisions/verify?*');
    await page.getByRole('button', { name: 'Verify integrity' }).click();
    await request.sent();
    const ended = page.waitForEvent('requestfailed', (each) => each.url().includes('/decisions/verify'));
    await page.getByRole('link', { name: 'Roles', exact: true }).click();
    await ended;
  });
});

describe('a conflict', () => {
  const rules = [{ resource: 'Tip', action: 'read', description: 'read tips' }];

  it('a policy that was changed meanwhile is deleted by the second attempt, also with unsaved changes', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const { token } = story.admin;
    const id = await newsroom.createPolicy({ name: 'deleted twice', rules });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    visitor.allow(/^response 412: DELETE/);
    await page.getByRole('textbox', { name: 'Description' }).fill('not saved');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('textbox', { name: 'Type deleted twice to confirm' }).fill('deleted twice');
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { description: 'theirs' } });
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    await remove.click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'RECORD_VERSION' }).waitFor();
    await remove.click();
    await heading(page, 'Policies');
  });

  it('a policy that was changed meanwhile is rolled back by the second attempt', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const id = await newsroom.createPolicy({ name: 'rolled back twice', rules });
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { description: 'second' } });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=history`, { as: story.admin });
    visitor.allow(/^response 412: POST/);
    await page.getByRole('button', { name: 'Roll back to this revision' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('twice');
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { description: 'third' } });
    const roll = dialog.getByRole('button', { name: 'Roll back to this revision' });
    await roll.click();
    await dialog.getByRole('alert').filter({ hasText: 'RECORD_VERSION' }).waitFor();
    await roll.click();
    await page.getByText(/^rolled back to revision \d+$/).waitFor();
  });

  it('a typed text is no choice of a picker until its search has ended, because it may be the name of an item', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await newsroom.createPolicy({ name: 'found late', rules: [{ resource: 'Tip', action: 'read', description: 'read tips' }] });
    const page = await visitor.open(newsroom, '/assignments', { as: story.admin });
    // The first items, before a text is typed, may contain the policy.
    await page.route('**/admin/api/policies?limit=20&summary=true', (route) => route.fulfill({ json: { success: true, data: [] } }));
    const request = await hold(page, 'GET', '**/admin/api/policies?*search=found*');
    await page.getByRole('button', { name: 'Assign a policy' }).click();
    const question = page.getByRole('dialog', { name: 'Assign a policy' });
    await question.getByRole('combobox').or(question.getByRole('textbox')).first().fill('found late');
    await request.sent();
    const options = page.getByRole('option', { name: 'found late' }).filter({ visible: true });
    expect(await options.count()).toBe(0);
    await request.pass();
    await clickOption(page, 'found late');
    await question.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL((url) => url.pathname.endsWith(`/policies/${id}`));
  });
});
