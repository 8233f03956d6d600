/** Dialogs and forms whose request runs: they stay open, and say why it was refused. */
import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
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
