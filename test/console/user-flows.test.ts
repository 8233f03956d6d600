import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Chooses an option of a list in a form. */
async function pick(form: Page | Locator, list: string, option: string): Promise<void> {
  await form
    .getByRole('combobox', { name: list })
    .or(form.getByRole('textbox', { name: list }))
    .first()
    .click();
  // The options of a dialog are outside of it.
  const page = 'page' in form ? form.page() : form;
  await clickOption(page, option);
}

describe('users', () => {
  it('a new user gets a role, and can sign in', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    visitor.allow(/^response 422: POST \/api\/User$/);
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('name', { exact: true }).fill('Nora Weiss');
    await dialog.getByLabel(/^email/).fill('nora@example.com');
    await dialog.getByLabel(/^password/).fill('short');
    await pick(dialog, 'role', 'editor');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await expectSoundScreen(page);
    await dialog.getByLabel(/^password/).fill('correct horse battery');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Nora Weiss', level: 1 }).waitFor();
    await page.getByText('nora@example.com · editor').waitFor();
    await newsroom.logIn('nora@example.com', 'correct horse battery');
  });

  it('the forms of a user have the fields that the project adds, with the controls of their types', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('name', { exact: true }).fill('Dora Fields');
    await dialog.getByLabel(/^email/).fill('dora@example.com');
    await pick(dialog, 'role', 'editor');
    await pick(dialog, 'department', 'sports');
    await expect.poll(() => dialog.getByLabel('startedOn').getAttribute('type')).toBe('date');
    await dialog.getByLabel('startedOn').fill('2026-01-31');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Dora Fields', level: 1 }).waitFor();
    const path = `/api/User/${new URL(page.url()).pathname.split('/').at(-1)}`;
    const stored = async () => (await newsroom.call('GET', path, { token: story.admin.token })).at('data');
    expect(await stored()).toMatchObject({ department: 'sports', startedOn: '2026-01-31', isActive: true });
    await page.getByRole('cell', { name: 'sports' }).waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    const edited = page.getByRole('dialog', { name: 'Edit' });
    await pick(edited, 'department', 'culture');
    await edited.getByRole('button', { name: 'Save' }).click();
    await edited.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'culture' }).waitFor();
    expect(await stored()).toMatchObject({ department: 'culture', startedOn: '2026-01-31', role: 'editor' });
  });

  it('a user whom another admin has changed meanwhile is not overwritten', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Carl Conflict' });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit' });
    await dialog.getByLabel('name', { exact: true }).fill('Mine');
    await newsroom.call('PUT', `/api/User/${user.id}`, { token: story.admin.token, body: { name: 'Theirs' } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('region', { name: 'This record was changed meanwhile' });
    await conflict.getByText('Theirs', { exact: true }).waitFor();
    await expectSoundScreen(page);
    await conflict.getByRole('button', { name: 'Take the stored values' }).click();
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    await dialog.waitFor({ state: 'detached' });
  });

  it('a refused change of a user is not offered on the screen of another one', async ({ newsroom, story, visitor }) => {
    const [user, other] = [await newsroom.user({ name: 'Rudi Refused' }), await newsroom.user({ name: 'Otto Other' })];
    for (const { id } of [user, other])
      await newsroom.call('PUT', `/api/User/${id}`, { token: story.admin.token, body: { isActive: false } });
    const page = await visitor.open(newsroom, `/users/${other.id}`, { as: story.admin });
    await page.getByRole('heading', { name: 'Otto Other', level: 1 }).waitFor();
    visitor.allow(/^response 503: PUT/);
    await page.route(`**/api/User/${user.id}`, (route, request) =>
      request.method() === 'PUT'
        ? route.fulfill({ status: 503, json: { title: 'Not available', status: 503, code: 'STORAGE_UNAVAILABLE' } })
        : route.continue(),
    );
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).fill('rudi');
    await page.getByRole('dialog').getByRole('button').filter({ hasText: 'Rudi Refused' }).first().click();
    await page.getByRole('heading', { name: 'Rudi Refused', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Retry' }).waitFor();
    // The data of the other user are known, so the screen is not loaded again.
    await page.goBack();
    await page.getByRole('heading', { name: 'Otto Other', level: 1 }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('a user whom another admin has changed meanwhile is inactive after the second attempt', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Vera Version' });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate' });
    await dialog.getByText('The user is signed out everywhere').waitFor();
    await newsroom.call('PUT', `/api/User/${user.id}`, { token: story.admin.token, body: { isActive: false } });
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText('RECORD_VERSION').waitFor();
    await page.getByText('inactive', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('inactive', { exact: true }).waitFor();
    expect((await newsroom.call('GET', `/api/User/${user.id}`, { token: story.admin.token })).at('data.isActive')).toBe(false);
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

  it('a policy is assigned with an expiry from the screen of the user, after it says what it allows', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const user = await newsroom.user({ name: 'Uma Assigned' });
    await newsroom.createPolicy({ name: 'assigned from the user', rules: [{ resource: 'Tip', action: 'list', description: 'list tips' }] });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    await page.getByRole('button', { name: 'Assign a policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign a policy to Uma Assigned' });
    const picker = dialog.getByRole('combobox', { name: 'Policy' }).or(dialog.getByRole('textbox', { name: 'Policy' }));
    await dialog.getByRole('link', { name: 'Create a policy…' }).waitFor();
    await picker.first().fill('Administrators');
    await clickOption(page, /Administrators: full access/);
    await dialog.getByText('This policy allows every action on every resource.').waitFor();
    await picker.first().fill('assigned from');
    await clickOption(page, /assigned from the user/);
    await dialog.getByText('This policy allows every action on every resource.').waitFor({ state: 'detached' });
    await dialog.getByLabel('Expires').fill('2099-01-31T10:00');
    await dialog.getByText('Allows 1 action:').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await page.getByText('The policy was assigned.').waitFor();
    await page.getByRole('link', { name: 'assigned from the user' }).waitFor();
    await page.getByText(/2099/).waitFor();
    expect((await newsroom.call('GET', '/api/Tip', { token: user.token })).status).toBe(200);
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

  it('the field of a search shows the text of the address after Back', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: story.admin });
    const search = page.locator('[data-search]');
    const count = () => page.getByRole('table', { name: 'Users' }).locator('tbody tr').count();
    await search.fill('okafor');
    await expect.poll(count).toBe(1);
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await expect.poll(() => search.inputValue()).toBe('');
    await page.goBack();
    await expect.poll(count).toBe(1);
    await expect.poll(() => search.inputValue()).toBe('okafor');
  });

  it('an assignment whose end is past is shown to change nothing, before and after it is made', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Pia Past' });
    await newsroom.createPolicy({ name: 'assigned too late', rules: [{ resource: 'Tip', action: 'list', description: 'list tips' }] });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    await page.getByRole('button', { name: 'Assign a policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign a policy to Pia Past' });
    await dialog.getByRole('combobox').or(dialog.getByRole('textbox')).first().fill('assigned too late');
    await clickOption(page, /assigned too late/);
    await dialog.getByText('Allows').waitFor();
    await dialog.getByLabel('Expires').fill('2020-01-01T10:00');
    await dialog.getByText('No action is denied or allowed by this').waitFor();
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByText('Warning: ').waitFor();
    const row = page.getByText('assigned too late').locator('..');
    await row.getByText('expired').waitFor();
    await expectSoundScreen(page);
  });

  it('a policy that is not active is marked once among those of a user, also if its assignment has expired', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const user = await newsroom.user({ name: 'Ingo Inactive' });
    const id = await newsroom.createPolicy({ name: 'switched off', userId: user.id, rules: [{ resource: 'Tip', action: 'list' }] });
    const { token } = story.admin;
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { isActive: false } });
    const expired = { token, body: { expiresAt: '2026-01-01T00:00:00Z' } };
    expect((await newsroom.call('PUT', `/admin/api/policies/${id}/assign/user/${user.id}`, expired)).status).toBe(200);
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin });
    const row = page.getByText('switched off').locator('..');
    await row.getByText('not active', { exact: true }).waitFor();
    expect(await row.getByText('expired').count()).toBe(0);
    await expectSoundScreen(page);
  });
});
