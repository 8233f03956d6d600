/** Dialogs and forms whose request runs: they stay open, and say why it was refused. */
import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it, startConsole } from './console.fixture.ts';
import { type HeldRequest, hold } from './held-requests.ts';

/** Tries to close a dialog while its request runs, and requires that it stays and shows the refusal. */
async function expectToStay(dialog: Locator, request: HeldRequest): Promise<void> {
  await request.sent();
  await dialog.page().keyboard.press('Escape');
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
  await expect.poll(() => dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true);
  await request.refuse();
  await dialog.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
}

const RULE = { resource: 'Tip', action: 'read', description: 'read tips' };

describe('while its request runs', () => {
  it('a question stays open', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Quirin Question' });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    visitor.allow(/^response 503: PUT/);
    const request = await hold(page, 'PUT', `**/api/User/${user.id}`);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate' });
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await expectToStay(dialog, request);
    // The next question begins without the former refusal.
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText('The user is signed out everywhere').waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
  });

  it('a dialog with a form stays open', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'assigned slowly', userId: story.rita.id, rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=assignments`, { as: story.admin });
    visitor.allow(/^response 503: POST/);
    const request = await hold(page, 'POST', '**/assignments/batch');
    await page.getByRole('button', { name: 'Change the expiry' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the expiry' });
    await dialog.getByRole('button', { name: 'Change the expiry' }).click();
    await expectToStay(dialog, request);
  });

  it('the dialog of a new user stays open', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    visitor.allow(/^response 503: POST/);
    const request = await hold(page, 'POST', '**/api/User');
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('name', { exact: true }).fill('Nina Slow');
    await dialog.getByLabel(/^email/).fill('nina@example.com');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await expectToStay(dialog, request);
  });

  it('the dialog that saves a policy stays open', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'saved slowly', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    visitor.allow(/^response 503: PUT/);
    const request = await hold(page, 'PUT', `**/policies/${id}`);
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await expectToStay(dialog, request);
  });

  it('the dialog that rolls back a policy stays open', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'rolled back slowly', rules: [RULE] });
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token: story.admin.token, body: { description: 'second' } });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=history`, { as: story.admin });
    visitor.allow(/^response 503: POST/);
    const request = await hold(page, 'POST', '**/rollback**');
    await page.getByRole('button', { name: 'Roll back to this revision' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('slowly');
    await dialog.getByRole('button', { name: 'Roll back to this revision' }).click();
    await expectToStay(dialog, request);
  });

  it('the dialog that saves a view stays open', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions', { as: story.admin });
    visitor.allow(/^response 503: PUT/);
    const request = await hold(page, 'PUT', '**/auth/me/views?*');
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByRole('textbox', { name: 'Name of the view' }).fill('saved slowly');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expectToStay(dialog, request);
  });

  it('a merge of a record cannot be changed', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const id = await newsroom.createRecord('Article', { title: 'Merged slowly', slug: 'merged-slowly', authorId: story.tom.id });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('Mine');
    await newsroom.call('PUT', `/api/Article/${id}`, { token, body: { title: 'Theirs' } });
    await page.getByRole('button', { name: 'Save' }).click();
    const merge = page.getByRole('region', { name: 'This record was changed meanwhile' });
    await merge.getByRole('radiogroup', { name: 'Value of title' }).waitFor();
    const request = await hold(page, 'PUT', `**/api/Article/${id}`);
    await merge.getByRole('button', { name: 'Save these values' }).click();
    await request.sent();
    for (const other of await merge.getByRole('button').or(merge.getByRole('radio')).all())
      await expect.poll(() => other.isDisabled()).toBe(true);
    await request.pass();
    await page.getByText('The record was saved.').waitFor();
  });

  it('the selection of records that are restored cannot be cleared', async ({ visitor, onTestFinished }) => {
    const definition = 'name: Note\nsoftDelete: true\nfields:\n  title: { type: string, required: true }\n';
    const service = await startConsole({ definitions: { 'Note.yaml': definition } });
    onTestFinished(() => service.close());
    const { token } = await service.admin();
    const id = await service.createRecord('Note', { title: 'Restored slowly' });
    await service.call('DELETE', `/api/Note/${id}`, { token });
    const page = await visitor.open(service, '/data/Note?deleted=true', { as: await service.admin() });
    visitor.allow(/^response 503: POST/);
    await page.getByRole('checkbox', { name: 'Select Restored slowly' }).check();
    await page.getByRole('status').filter({ hasText: '1 record selected' }).waitFor();
    const request = await hold(page, 'POST', '**/api/batch');
    await page.getByRole('button', { name: 'Restore', exact: true }).first().click();
    await request.sent();
    await expect.poll(() => page.getByRole('button', { name: 'Clear the selection' }).isDisabled()).toBe(true);
    await request.refuse();
    await page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' }).waitFor();
  });

  it('the fields of a record cannot be changed, and the focus is where it was afterwards', async ({ newsroom, story, visitor }) => {
    const article = { title: 'Saved slowly', slug: 'saved-slowly', authorId: story.tom.id };
    const id = await newsroom.createRecord('Article', article);
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    const request = await hold(page, 'PUT', `**/api/Article/${id}`);
    const title = page.getByRole('textbox', { name: 'title', exact: true });
    await title.fill('Saved at last');
    await title.press('Enter');
    await request.sent();
    await expect.poll(() => title.isDisabled()).toBe(true);
    await request.pass();
    await page.getByText('The record was saved.').waitFor();
    await title.and(page.locator(':focus')).waitFor();
  });
});
