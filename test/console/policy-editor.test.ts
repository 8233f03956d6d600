import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { runCommand } from '../process/run-command.ts';
import { type ConsoleService, it } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { expectSoundScreen } from './screen-checks.ts';

interface Newsroom {
  readonly newsroom: ConsoleService;
  readonly story: Story;
}

/** Creates a policy with a rule on articles, and returns its id. */
async function createPolicy({ newsroom, story }: Newsroom, name: string): Promise<string> {
  const conditions = [{ field: 'status', context: 'resource', operator: 'in', value: ['draft'], ifExists: true }];
  const rule = { resource: 'Article', action: 'read', description: 'drafts', conditions };
  const body = { name, type: 'ATTRIBUTE_BASED', description: 'first', rules: [rule] };
  const reply = await newsroom.call('POST', '/admin/api/policies', { token: story.admin.token, body });
  return String(reply.at('data.id'));
}

async function loadPolicy({ newsroom, story }: Newsroom, id: string) {
  const reply = await newsroom.call('GET', `/admin/api/policies/${id}`, { token: story.admin.token });
  return reply.at('data') as {
    readonly name: string;
    readonly description?: string;
    readonly tags: unknown;
    readonly rules: readonly { readonly conditions: unknown }[];
  };
}

/** Opens the dialog that shows the differences. */
async function openDifferences(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByText('This changes:').waitFor();
}

describe('the editor of policies', () => {
  it('shows a mistake at its field, saves the differences with a reason, and keeps what it does not know', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await createPolicy({ newsroom, story }, 'edited by forms');
    const page = await visitor.open(newsroom, `/policies/${id}?at=rules.0`, { as: story.admin });
    await page.getByText('if resource.status is one of "draft" (false if missing)').waitFor();
    const path = page
      .getByRole('combobox', { name: 'Path' })
      .or(page.getByRole('textbox', { name: 'Path' }))
      .first();
    await path.fill('resource.stauts');
    await page.getByText('did you mean "status"?').waitFor();
    await path.fill('resource.status');
    await page.keyboard.press('Escape');
    await page
      .getByText('no mistakes')
      .or(page.getByText(/^revision/))
      .first()
      .waitFor();
    // A mistake in an expression is marked in its text.
    await page.getByRole('combobox', { name: 'Type' }).first().selectOption('CUSTOM');
    await page.getByRole('button', { name: 'Add an expression' }).click();
    await page.getByRole('textbox', { name: 'Expression' }).fill('resource.status == "draft" && usr.id == "a"');
    await expect.poll(() => page.locator('.cm-lintRange-error').allTextContents()).toEqual(['usr']);
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'More actions' }).last().click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('combobox', { name: 'Type' }).first().selectOption('ATTRIBUTE_BASED');
    await page.getByRole('textbox', { name: 'Description' }).first().fill('second');
    await openDifferences(page);
    await page.getByText('the description of the policy is "second" instead of "first"').waitFor();
    await page.getByRole('textbox', { name: 'Reason for the change' }).fill('a test of forms');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    const stored = await loadPolicy({ newsroom, story }, id);
    expect(stored.description).toBe('second');
    expect(stored.rules[0]?.conditions).toEqual([{ field: 'resource.status', operator: 'in', value: ['draft'], ifExists: true }]);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('a test of forms').waitFor();
  });

  it('merges the change of another admin, and loses no input', async ({ newsroom, story, visitor }) => {
    visitor.allow(/412/);
    const id = await createPolicy({ newsroom, story }, 'edited by two');
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await page.getByRole('textbox', { name: 'Name' }).fill('edited by me');
    const theirs = { description: 'theirs', tags: ['desk'] };
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token: story.admin.token, body: theirs });
    await openDifferences(page);
    await page.getByRole('textbox', { name: 'Reason for the change' }).fill('kept reason');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Another admin has changed this policy', { exact: true }).waitFor();
    await page.getByRole('radiogroup', { name: 'Version of description' }).getByText('Theirs').click();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await openDifferences(page);
    await expect.poll(() => page.getByRole('textbox', { name: 'Reason for the change' }).inputValue()).toBe('kept reason');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    expect(await loadPolicy({ newsroom, story }, id)).toMatchObject({ name: 'edited by me', description: 'theirs', tags: ['desk'] });
  });

  it('keeps the draft in the text and in the forms, and asks before it is lost', async ({ newsroom, story, visitor }) => {
    const id = await createPolicy({ newsroom, story }, 'edited as text');
    const page = await visitor.open(newsroom, `/policies/${id}?tab=text`, { as: story.admin });
    const editor = page.getByRole('textbox', { name: 'Policy as text' });
    await editor.fill(JSON.stringify({ name: 'edited as text', type: 'ROLE_BASED', rules: [{ resource: 'Tip', action: 'list' }] }));
    await page.getByText('unsaved changes').waitFor();
    await page.getByText('YAML', { exact: true }).click();
    await page.getByText('action: list').waitFor();
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByText('list on Tip').waitFor();
    await page.getByRole('link', { name: 'Assignments' }).click();
    await page.getByText('Leave without saving?').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByText('list on Tip').waitFor();
    await page.getByRole('link', { name: 'Assignments' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Assignments', level: 1 }).waitFor();
  });

  it('keeps unsaved changes when the session ends, and merges them with a newer version', async ({ newsroom, story, visitor }) => {
    visitor.allow(/40[13]|412/);
    const id = await createPolicy({ newsroom, story }, 'kept over the end');
    const other = await newsroom.user({ name: 'Another admin', role: 'admin' });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: other, isolated: true });
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await page.getByText('no mistakes').waitFor();
    const { token } = story.admin;
    const sessions = await newsroom.call('GET', `/admin/api/users/${other.id}/sessions`, { token });
    for (const session of sessions.at('data') as readonly { readonly id: string }[])
      await newsroom.call('DELETE', `/admin/api/users/${other.id}/sessions/${session.id}`, { token });
    await page.getByRole('textbox', { name: 'Description' }).fill('mine, after the end');
    await page.getByText('Your session has ended').waitFor();
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token, body: { tags: ['desk'] } });
    await page.getByRole('textbox', { name: 'Email' }).fill(other.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(other.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Restore the changes' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('mine, after the end');
    await openDifferences(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Your changes and theirs do not conflict.').waitFor();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await openDifferences(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    expect(await loadPolicy({ newsroom, story }, id)).toMatchObject({ description: 'mine, after the end', tags: ['desk'] });
    await page.reload();
    await page.getByRole('heading', { name: 'kept over the end' }).waitFor();
    expect(await page.getByRole('button', { name: 'Restore the changes' }).count()).toBe(0);
  });

  it('closes a rule that the address names, and opens it when the address names another one', async ({ newsroom, story, visitor }) => {
    const read = (description: string) => ({ resource: 'Article', action: 'read', description });
    const id = await newsroom.createPolicy({ name: 'named by the address', rules: [read('first rule'), read('second rule')] });
    const page = await visitor.open(newsroom, `/policies/${id}?at=rules.1`, { as: story.admin });
    const rule = (index: number) => page.locator(`[data-path="rules.${index}"]`);
    await rule(1).getByRole('button', { name: 'Done' }).click();
    await rule(1).getByRole('button', { name: 'Edit' }).waitFor();
    expect(await page.getByRole('button', { name: 'Done' }).count()).toBe(0);
    await page.goto(`${newsroom.console}/policies/${id}?at=rules.0`);
    await rule(0).getByRole('button', { name: 'Done' }).waitFor();
  });

  it('offers a new policy without the changes of the one that was created before', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/policies/new', { as: story.admin });
    await page.getByRole('textbox', { name: 'Name' }).fill('created once');
    await page.getByRole('button', { name: 'Add the first rule' }).click();
    await page.getByText('no mistakes').waitFor();
    await page.getByRole('button', { name: 'Create…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'created once', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByRole('button', { name: 'Add the first rule' }).waitFor();
    expect(await page.getByRole('button', { name: 'Restore the changes' }).count()).toBe(0);
    expect(await page.evaluate<string>(`sessionStorage.getItem('bailiwick-kept-drafts') ?? ''`)).toBe('');
  });

  it('says that another admin has deleted the policy, and keeps the draft', async ({ newsroom, story, visitor }) => {
    const id = await createPolicy({ newsroom, story }, 'deleted by another');
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await newsroom.call('DELETE', `/admin/api/policies/${id}`, { token: story.admin.token });
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This policy no longer exists').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('mine');
  });

  it('says which file manages a policy, keeps its preview, and refuses to save, delete and revoke it', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const project = mkdtempSync(join(tmpdir(), 'bailiwick-managed-'));
    cpSync('examples/newsroom/resources', join(project, 'resources'), { recursive: true });
    mkdirSync(join(project, 'policies'));
    const rules = '[{ resource: Article, action: read }]';
    writeFileSync(
      join(project, 'policies/desk.yaml'),
      `{ name: Desk of files, type: ROLE_BASED, rules: ${rules}, roles: [{ role: viewer }] }`,
    );
    const place = ['--project', project, '--data', newsroom.dataFolder, '--database', newsroom.database];
    const { code, err } = await runCommand(['policies', 'apply', '--as', story.admin.email, ...place]);
    rmSync(project, { recursive: true });
    expect(code, err).toBe(0);
    const page = await visitor.open(newsroom, '/policies?search=Desk+of+files', { as: story.admin });
    await page.getByTitle('Managed by policies/desk.yaml').waitFor();
    await page.getByRole('checkbox', { name: 'Select Desk of files' }).check();
    await page.getByRole('button', { name: 'Deactivate' }).focus();
    await page.getByRole('tooltip').getByText('Desk of files (policies/desk.yaml)').waitFor();
    expect(await page.getByRole('button', { name: 'Deactivate' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('link', { name: 'Desk of files' }).click();
    await page.getByText('Managed by policies/desk.yaml', { exact: true }).waitFor();
    for (const name of ['Delete', 'Save…']) expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('tab', { name: 'Assignments' }).click();
    await page.getByText('listed in policies/desk.yaml').waitFor();
    expect(await page.getByRole('button', { name: /^Revoke/ }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Preview' }).waitFor();
  });

  it('deletes a policy after its name is typed, and restores it with its assignments', async ({ newsroom, story, visitor }) => {
    const id = await createPolicy({ newsroom, story }, 'deleted and restored');
    await newsroom.call('POST', `/admin/api/policies/${id}/assign/role/editor`, { token: story.admin.token, body: {} });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('textbox', { name: 'Type deleted and restored to confirm' }).fill('deleted and restored');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'All changes' }).click();
    await page.getByRole('button', { name: 'Restore the policy' }).first().click();
    await page.getByRole('textbox', { name: 'Reason for the change' }).fill('needed after all');
    await page.getByRole('checkbox', { name: /Also restore the assignments/ }).check();
    await page.getByRole('dialog').getByText('Restores 1 assignment:').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore the policy' }).click();
    await page.getByRole('dialog').getByText('1 assignment was restored:').waitFor();
    await page.getByRole('dialog').getByText('role editor').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('heading', { name: 'deleted and restored', level: 1 }).waitFor();
    await page.getByRole('tab', { name: 'Assignments' }).click();
    await page.getByText('role editor').waitFor();
  });
});
