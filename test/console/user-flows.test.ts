import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('users', () => {
  it('a new user gets a role, and can sign in', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    visitor.allow(/^response 422: POST \/api\/User$/);
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('Name').fill('Nora Weiss');
    await dialog.getByLabel('Email').fill('nora@example.com');
    await dialog.getByLabel(/^Password/).fill('short');
    await dialog
      .getByRole('combobox', { name: 'Role' })
      .or(dialog.getByRole('textbox', { name: 'Role' }))
      .first()
      .click();
    await page.getByRole('option', { name: 'editor' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel(/^Password/).fill('correct horse battery');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Nora Weiss', level: 1 }).waitFor();
    await page.getByText('nora@example.com · editor').waitFor();
    await newsroom.logIn('nora@example.com', 'correct horse battery');
  });

  it('deactivating says what follows, and signs the user out', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Paul Deactivated' });
    const theirs = await visitor.open(newsroom, '/data', { as: user });
    await theirs.getByRole('heading', { name: 'Records', level: 1 }).waitFor();
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('dialog').getByText('The user is signed out everywhere').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('inactive', { exact: true }).waitFor();
    visitor.allow(/^response 401/);
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    await newsroom.logIn(user.email, user.password);
  });

  it('one session is ended, and the others stay', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Sara Sessions' });
    const theirs = await visitor.open(newsroom, '/account', { as: user });
    await theirs.getByText('this session').waitFor();
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    const sessions = page.getByRole('table', { name: 'Open sessions' }).locator('tbody tr');
    await expect.poll(() => sessions.count()).toBe(2);
    await expectSoundScreen(page);
    await sessions.filter({ hasText: 'Chrome' }).getByRole('button', { name: 'End' }).click();
    await page.getByText('The sessions have ended.').waitFor();
    await expect.poll(() => sessions.count()).toBe(1);
    visitor.allow(/^response 401/);
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await newsroom.call('GET', '/auth/me', { token: user.token })).status).toBe(200);
  });

  it('the list finds users by a part of their name, and the address contains the search', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    const table = page.getByRole('table', { name: 'Users' });
    await table.getByText('Maya Lindqvist').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('okafor');
    await expect.poll(() => table.locator('tbody tr').count()).toBe(1);
    expect(page.url()).toContain('search=okafor');
    await table.getByText('Tom Okafor').click();
    await page.getByRole('heading', { name: 'Tom Okafor', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Editors: their department' }).waitFor();
  });
});
