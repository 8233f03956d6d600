/** The form of conditions on ancestors, with documents in folders of folders. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it as register, startConsole } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

const DEFINITIONS = {
  'Folder.yaml': `name: Folder
fields:
  name: { type: string, required: true }
  parentId: { type: reference, to: Folder, hierarchy: true, onDelete: restrict }
`,
  'Document.yaml': `name: Document
fields:
  title: { type: string, required: true }
  folderId: { type: reference, to: Folder, onDelete: restrict }
`,
  'User.yaml': 'name: User\nfields:\n  rootFolderIds: { type: list, of: { type: reference, to: Folder } }\n',
};

const it = register
  .extend('library', { scope: 'file' }, async ({ program: _ }, { onCleanup }) => {
    const service = await startConsole({ definitions: DEFINITIONS });
    onCleanup(() => service.close());
    return service;
  })
  .extend('folders', { scope: 'file' }, async ({ library }) => {
    const top = await library.createRecord('Folder', { name: 'Handbook' });
    const below = await library.createRecord('Folder', { name: 'Travel', parentId: top });
    return { top, below, other: await library.createRecord('Folder', { name: 'Finance' }) };
  });

async function conditionsOf(service: ConsoleService, id: string): Promise<unknown> {
  const { token } = await service.admin();
  return (await service.call('GET', `/admin/api/policies/${id}`, { token })).at('data.rules.0.conditions');
}

async function save(page: Page): Promise<void> {
  await page.getByText('no mistakes').waitFor();
  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByText('This changes:').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The policy was saved.').waitFor();
}

describe('the form of conditions on ancestors', () => {
  it('takes records by their names and a path, and stores what it shows', async ({ library, folders, visitor }) => {
    const rule = { resource: 'Document', action: 'read', conditions: [] };
    const id = await library.createPolicy({ name: 'Folders of the user', rules: [rule] });
    const page = await visitor.open(library, `/policies/${id}?at=rules.0`, { as: await library.admin() });
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByRole('combobox', { name: 'Path' }).fill('resource.title');
    const operator = page.getByRole('combobox', { name: 'Operator' });
    // A text that identifies no folder has no ancestors.
    expect(await operator.locator('option', { hasText: 'is within' }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Path' }).fill('resource.folderId');
    await operator.selectOption('is within');
    const records = page.getByRole('combobox', { name: 'Records of Folder' }).or(page.getByRole('textbox', { name: 'Records of Folder' }));
    await records.fill('Hand');
    await clickOption(page, /Handbook/);
    await page.keyboard.press('Escape');
    // The sentence of the rule has the name too.
    await page.getByText('resource.folderId is within Handbook').waitFor();
    await expectSoundScreen(page);
    await save(page);
    expect(await conditionsOf(library, id)).toEqual([{ field: 'resource.folderId', operator: 'within', value: [folders.top] }]);
    // The stored id is shown by the name of its record.
    await page.reload();
    await page.getByRole('group', { name: 'Condition' }).getByText('Handbook').first().waitFor();
    await page.getByRole('button', { name: 'Compare with the value of a path' }).click();
    const referenced = page.getByRole('combobox', { name: 'Path of the value' });
    await expect.poll(() => referenced.inputValue()).toBe('user.rootFolderIds');
    await save(page);
    expect(await conditionsOf(library, id)).toEqual([{ field: 'resource.folderId', operator: 'within', value: '${user.rootFolderIds}' }]);
  });

  it('an explanation names the ancestors that were compared', async ({ library, folders, visitor }) => {
    const conditions = [{ field: 'resource.folderId', operator: 'within', value: '${user.rootFolderIds}' }];
    const mia = await library.user({ name: 'Mia', rootFolderIds: [folders.other] });
    await library.createPolicy({ name: 'Below', userId: mia.id, rules: [{ resource: 'Document', action: 'read', conditions }] });
    const document = await library.createRecord('Document', { title: 'Hotels', folderId: folders.below });
    const path = `/simulator?user=${mia.id}&resource=Document&action=read&id=${document}`;
    const page = await visitor.open(library, path, { as: await library.admin() });
    await page.getByText('One condition away').waitFor();
    const unmet = page.getByText('but the value is');
    await expect
      .poll(() => unmet.textContent())
      .toBe(
        'resource.folderId is within ${user.rootFolderIds} ([Finance]), but the value is Travel: none of Travel, Handbook is among them',
      );
    await expectSoundScreen(page);
  });
});
