import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('a rollback', () => {
  it('shows what it changes, needs a reason, and restores the rules of the version', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const read = { resource: 'Article', action: 'read', description: 'read articles' };
    const id = await newsroom.createPolicy({ name: 'Rolled back', rules: [read] });
    const path = `/admin/api/policies/${id}`;
    const remove = { resource: 'Article', action: 'delete', description: 'delete articles' };
    await newsroom.call('PUT', path, { token, body: { rules: [read, remove] } });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=preview`, { as: story.admin });
    await page.getByRole('button', { name: 'Compare with the previous revision' }).click();
    await page.getByRole('button', { name: 'Hide the differences' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to this revision' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('rule "delete articles" is removed').waitFor();
    await dialog.getByText('The policy is assigned to').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Roll back to this revision' }).click();
    await dialog.getByText('Enter a reason').waitFor();
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('opened too much');
    await dialog.getByRole('button', { name: 'Roll back to this revision' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('opened too much').waitFor();
    await page.getByText(/^rolled back to revision \d+$/).waitFor();
    await expectSoundScreen(page);
    const reply = await newsroom.call('GET', path, { token });
    expect(reply.at('data.rules')).toMatchObject([{ description: 'read articles' }]);
    expect(reply.at('data.rules.1')).toBeUndefined();
  });

  it('says which recorded decisions and which actions it denies and allows', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const writer = await newsroom.user({ name: 'Nora Iversen' });
    const [list, create] = [
      { resource: 'Tip', action: 'list', description: 'list tips' },
      { resource: 'Comment', action: 'create', description: 'comments of Nora' },
    ];
    const id = await newsroom.createPolicy({ name: 'Nora', userId: writer.id, priority: 900, rules: [list] });
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { rules: [create] } });
    const body = { articleId: story.articles.get('harbour-reopens'), text: 'Hello' };
    expect((await newsroom.call('POST', '/api/Comment', { token: writer.token, body })).status).toBe(201);
    expect((await newsroom.call('GET', '/api/Tip', { token: writer.token })).status).toBe(403);

    const page = await visitor.open(newsroom, `/policies/${id}?tab=history`, { as: story.admin });
    await page.getByRole('button', { name: 'Roll back to this revision' }).click();
    const dialog = page.getByRole('dialog');
    // The comment stays allowed, by another policy.
    await dialog.getByText(/^1 would be allowed:$/).waitFor();
    await dialog.getByText('1 × user · list Tip').waitFor();
    await dialog.getByText('Nora Iversen').waitFor();
    await dialog.getByText('Allows 1 action:').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('checkbox', { name: /Also restore the assignments/ }).check();
    await dialog.getByText('does not include the changes of assignments').waitFor();
    // Nora was assigned after the first version, and is named before and after.
    const status = dialog.getByRole('status').filter({ hasText: 'assignment' });
    await status.getByText('Revokes 1 assignment, which was added since:').waitFor();
    await status.getByText('Nora Iversen').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('back to the first version');
    await dialog.getByRole('button', { name: 'Roll back to this revision' }).click();
    await status.getByText('1 assignment was revoked:').waitFor();
    await status.getByText('Nora Iversen').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });

    // A deleted policy can be restored as long as it does not exist.
    const path = `/admin/api/policies/${id}`;
    expect((await newsroom.call('DELETE', path, { token })).status).toBe(200);
    await page.goto(`${newsroom.console}/policies/changes`);
    const restore = page.getByRole('button', { name: 'Restore the policy' });
    await restore.first().click();
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('deleted by mistake');
    await dialog.getByRole('button', { name: 'Restore the policy' }).click();
    await page.getByRole('heading', { name: 'Nora', level: 1 }).waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('deleted by mistake').waitFor();
    expect(await restore.count()).toBe(0);
  });
});

describe('the history of a policy', () => {
  it('restores one rule of an earlier version, and keeps the changes of others', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const rules = ['read', 'list'].map((action) => ({ resource: 'Article', action, description: `${action} articles` }));
    const id = await newsroom.createPolicy({ name: 'Two rules', rules });
    const path = `/admin/api/policies/${id}`;
    const stored = (await newsroom.call('GET', path, { token })).at('data.rules') as readonly { readonly id: string }[];
    const denying = rules.map((rule, at) => ({ ...rule, id: stored[at]?.id, effect: 'DENY' }));
    await newsroom.call('PUT', path, { token, body: { rules: denying } });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=history`, { as: story.admin });
    await page.getByRole('button', { name: 'Show the differences from the current revision' }).click();
    await page.getByRole('button', { name: 'Restore this rule' }).first().click();
    await page.getByText('unsaved changes').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const reply = await newsroom.call('GET', path, { token });
    expect(reply.at('data.rules')).toMatchObject([{ effect: 'ALLOW' }, { effect: 'DENY' }]);
  });
});

describe('a new policy', () => {
  it('shows the mistakes of empty fields after they were left or the policy was to be saved, and not before', async ({
    newsroom,
    story,
    visitor,
  }) => {
    // The picker looks for the record with the typed id.
    visitor.allow(/404: GET \/api\/User/);
    const page = await visitor.open(newsroom, '/policies/new', { as: story.admin });
    const mistake = page.getByText('Enter a name');
    await page.getByRole('heading', { name: 'New policy' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await mistake.count()).toBe(0);
    await page.getByRole('textbox', { name: 'Description' }).fill('a policy without a name');
    await page.getByText('1 mistake', { exact: true }).waitFor();
    expect(await mistake.count()).toBe(0);
    await page.getByRole('textbox', { name: 'Name' }).focus();
    await page.keyboard.press('Tab');
    await mistake.waitFor();
    // A new condition shows no mistake before its fields were left or the policy was to be saved.
    await page.getByRole('button', { name: 'Add the first rule' }).click();
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByText('2 mistakes', { exact: true }).waitFor();
    expect(await page.getByText('Choose a field').count()).toBe(0);
    await page.getByRole('button', { name: 'Create… (2 mistakes)' }).click();
    await page.getByText('Choose a field').waitFor();
    // A picker of records shows its mistake, too.
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Path' }).fill('resource.createdBy');
    const picker = page.getByRole('textbox', { name: 'Value' }).or(page.getByRole('combobox', { name: 'Value' }));
    await picker.fill('of-${nowhere.id}');
    await clickOption(page, 'of-${nowhere.id}');
    await expect.poll(() => picker.getAttribute('aria-invalid')).toBe('true');
  });
});
