import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

const UNREADABLE = '{ "name": "half a te';

/** Creates a policy with two rules, and returns its id. */
async function createPolicy(newsroom: ConsoleService, name: string): Promise<string> {
  const rules = ['read', 'list'].map((action) => ({ resource: 'Article', action, description: `first ${action}` }));
  return newsroom.createPolicy({ name, rules });
}

function editorOf(page: Page) {
  return page.getByRole('textbox', { name: 'Policy as text' });
}

/** Replaces a text with the keys of the editor: it contains the other text and buttons too, which the browser alone would select. */
async function replaceText(page: Page, editor: ReturnType<typeof editorOf>, text: string): Promise<void> {
  await editor.press('Control+a');
  await page.keyboard.insertText(text);
}

describe('the text of a policy that cannot be read', () => {
  it('saving from another tab says why it cannot be saved, and leads to the text as it was typed', async ({ newsroom, story, visitor }) => {
    const id = await createPolicy(newsroom, 'half a text');
    const page = await visitor.open(newsroom, `/policies/${id}?tab=text`, { as: story.admin });
    await editorOf(page).fill(UNREADABLE);
    await page.getByText('unsaved changes').waitFor();
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('alert').filter({ hasText: 'The text cannot be read' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Description' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Assignments' }).click();
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save the changes' });
    await dialog.getByText(/JSON/).waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Open the text' }).click();
    await expect.poll(() => editorOf(page).textContent()).toBe(UNREADABLE);
    await page.getByRole('link', { name: 'Assignments' }).click();
    await page.getByText('Leave without saving?').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();

    await editorOf(page).fill(JSON.stringify({ name: 'a whole text', type: 'CUSTOM', rules: [] }));
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    await page.getByRole('heading', { name: 'a whole text', level: 1 }).waitFor();
  });

  it('discarding it keeps the changes that were made before', async ({ newsroom, story, visitor }) => {
    const id = await createPolicy(newsroom, 'changed before');
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByRole('textbox', { name: 'Description' }).fill('typed into the form');
    await page.getByRole('tab', { name: 'JSON / YAML' }).click();
    await page.getByText('YAML', { exact: true }).click();
    await page.getByText('description: typed into the form').waitFor();
    await editorOf(page).press('Control+Home');
    await page.keyboard.type('[');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Discard the text' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('typed into the form');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => page.getByText('unsaved changes').count()).toBe(0);
  });
});

describe('the merge as text', () => {
  it('combines both changes of one rule, which a choice of versions cannot', async ({ newsroom, story, visitor }) => {
    visitor.allow(/412/);
    const { token } = story.admin;
    const id = await createPolicy(newsroom, 'merged as text');
    const load = async () => (await newsroom.call('GET', `/admin/api/policies/${id}`, { token })).at('data');
    const { rules } = (await load()) as { readonly rules: readonly { readonly id: string; readonly action: string }[] };
    const page = await visitor.open(newsroom, `/policies/${id}?tab=text`, { as: story.admin });
    const mine = rules.map((rule) => (rule.action === 'read' ? { ...rule, priority: 300 } : rule));
    await editorOf(page).fill(JSON.stringify({ name: 'merged as text', type: 'CUSTOM', rules: mine }));
    const theirs = rules.map((rule) => (rule.action === 'read' ? { ...rule, effect: 'DENY' } : rule));
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { rules: theirs, description: 'theirs' } });
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Another admin has changed this policy' });
    await dialog.getByRole('button', { name: 'Merge as text' }).click();
    await dialog.getByRole('button', { name: 'Take theirs' }).first().waitFor();
    await expectSoundScreen(page);
    const merge = dialog.getByRole('textbox', { name: 'Merged policy as text' });
    await replaceText(page, merge, '{');
    await dialog.getByText('The text cannot be read').waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Merge', exact: true }).isDisabled()).toBe(true);
    const both = rules.map((rule) => (rule.action === 'read' ? { ...rule, effect: 'DENY', priority: 300 } : rule));
    await replaceText(page, merge, JSON.stringify({ name: 'merged as text', type: 'CUSTOM', description: 'theirs', rules: both }));
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    expect(await load()).toMatchObject({
      description: 'theirs',
      rules: [{ action: 'read', effect: 'DENY', priority: 300 }, { action: 'list' }],
    });
  });

  it('takes the version of the other admin for a difference with the keyboard', async ({ newsroom, story, visitor }) => {
    visitor.allow(/412/);
    const id = await createPolicy(newsroom, 'taken from them');
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token: story.admin.token, body: { description: 'theirs' } });
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Merge as text' }).click();
    const take = page.getByRole('button', { name: 'Take theirs' });
    await take.waitFor();
    await take.focus();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Merged policy as text' }).textContent())
      .toContain('"description": "theirs"');
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('theirs');
  });
});
