/** The form of conditions on related records, with organisations whose members are records. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it as register, startConsole } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

const DEFINITIONS = {
  'Organisation.yaml': 'name: Organisation\nfields:\n  name: { type: string, required: true }\n',
  'Membership.yaml': `name: Membership
fields:
  userId: { type: reference, to: User, required: true, onDelete: cascade }
  organisationId: { type: reference, to: Organisation, required: true, onDelete: cascade }
  level: { type: enum, values: [owner, editor, reader] }
  tags: { type: list, of: string }
indexes:
  - fields: [userId, organisationId]
`,
  'Document.yaml': 'name: Document\nfields:\n  organisationId: { type: reference, to: Organisation, onDelete: cascade }\n',
};

const it = register.extend('organisations', { scope: 'file' }, async ({ program: _ }, { onCleanup }) => {
  const service = await startConsole({ definitions: DEFINITIONS });
  onCleanup(() => service.close());
  return service;
});

/** Creates a policy with a rule on documents, and returns its id. */
function createPolicy(service: ConsoleService, name: string, conditions: readonly object[]): Promise<string> {
  return service.createPolicy({ name, rules: [{ resource: 'Document', action: 'read', conditions }] });
}

async function conditionsOf(service: ConsoleService, id: string): Promise<unknown> {
  const { token } = await service.admin();
  return (await service.call('GET', `/admin/api/policies/${id}`, { token })).at('data.rules.0.conditions');
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save…' }).click();
  await page.getByText('This changes:').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The policy was saved.').waitFor();
}

const LINKS = { userId: '${user.id}', organisationId: '${resource.organisationId}' };

describe('the form of conditions on related records', () => {
  it('suggests the links, takes conditions with paths of the alias, and stores what it shows', async ({ organisations, visitor }) => {
    const id = await createPolicy(organisations, 'members', []);
    const page = await visitor.open(organisations, `/policies/${id}?at=rules.0`, { as: await organisations.admin() });
    // With the keyboard alone.
    await page.getByRole('button', { name: 'Add related records' }).press('Enter');
    await page
      .getByText('if at least one Membership m where m.userId is user.id and m.organisationId is resource.organisationId')
      .waitFor();
    const where = page.getByRole('group', { name: 'Counted if: all must be true' });
    await where.getByRole('button', { name: 'Add a condition' }).press('Enter');
    const path = where.getByRole('combobox', { name: 'Path' });
    await path.fill('m.lev');
    await path.press('ArrowDown');
    await path.press('Enter');
    await expect.poll(() => path.inputValue()).toBe('m.level');
    const value = where.getByRole('combobox', { name: 'Value' });
    // An empty choice is a mistake: no value is stored that was not chosen.
    await expect.poll(() => value.inputValue()).toBe('');
    await page.getByText('1 mistake', { exact: true }).waitFor();
    await value.selectOption('owner');
    await page.getByRole('textbox', { name: 'Called' }).fill('mine');
    await expect.poll(() => path.inputValue()).toBe('mine.level');
    await page.getByRole('combobox', { name: 'Number' }).selectOption('at most …');
    await page.getByRole('textbox', { name: 'At most' }).fill('3');
    await page.getByText('no mistakes').waitFor();
    await expectSoundScreen(page);
    await save(page);
    expect(await conditionsOf(organisations, id)).toEqual([
      {
        related: {
          ...{ resource: 'Membership', as: 'mine', on: LINKS, atMost: 3 },
          where: [{ field: 'mine.level', operator: 'eq', value: 'owner' }],
        },
      },
    ]);
  });

  it('shows each mistake at its field, and refuses a name that paths use already', async ({ organisations, visitor }) => {
    const where = [{ field: 'm.levl', operator: 'eq', value: 'owner' }];
    const id = await createPolicy(organisations, 'mistaken', []);
    const page = await visitor.open(organisations, `/policies/${id}?tab=text`, { as: await organisations.admin() });
    const related = { resource: 'Membership', as: 'm', on: { tags: 'x', userId: '${user.id}' }, where, atLeast: 5, atMost: 2, from: 1 };
    const rules = [{ resource: 'Document', action: 'read', conditions: [{ related }] }];
    const draft = { name: 'mistaken', type: 'ATTRIBUTE_BASED', rules };
    await page.getByRole('textbox', { name: 'Policy as text' }).fill(JSON.stringify(draft));
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    for (const [name, mistake] of [
      ['Link 1', /which is list/],
      ['Counted if: all must be true', /did you mean "level"/],
    ] as const)
      await page.getByRole('group', { name }).getByText(mistake).first().waitFor();
    await page.getByText('unknown member "from"').waitFor();
    const atMost = page.getByRole('textbox', { name: 'At most' });
    await expect.poll(() => atMost.getAttribute('aria-invalid')).toBe('true');
    const alias = page.getByRole('textbox', { name: 'Called' });
    await alias.fill('user');
    await page.getByText('Kept: m').waitFor();
    await alias.blur();
    await expect.poll(() => alias.inputValue()).toBe('m');
    await page.getByRole('button', { name: 'Remove the link by tags' }).press('Enter');
    // The focus is not lost with the button that had it.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Add a link');
    await page.getByRole('group', { name: 'Link 2' }).waitFor({ state: 'detached' });
  });

  it('keeps a nested condition exactly in the forms, in JSON and in YAML', async ({ organisations, visitor }) => {
    const within = {
      related: { resource: 'Membership', as: 'o', on: { organisationId: '${m.organisationId}', level: 'owner' }, atLeast: 2 },
    };
    const conditions = [
      { not: { related: { atMost: 0, as: 'm', resource: 'Membership', on: LINKS, where: [{ anyOf: [within, { not: within }] }] } } },
    ];
    const id = await createPolicy(organisations, 'nested', conditions);
    const page = await visitor.open(organisations, `/policies/${id}?at=rules.0`, { as: await organisations.admin() });
    await page.getByRole('textbox', { name: 'Called' }).nth(2).waitFor();
    // The service allows two levels.
    expect(await page.getByRole('button', { name: 'Add related records' }).count()).toBe(3);
    await expectSoundScreen(page);
    await page.getByRole('tab', { name: 'JSON / YAML' }).click();
    await page.getByText('YAML', { exact: true }).click();
    await page.getByText('atMost: 0').waitFor();
    const text = page.getByRole('textbox', { name: 'Policy as text' });
    await text.press('Control+End');
    await page.keyboard.type('description: changed as text\n');
    await page.getByText('unsaved changes').waitFor();
    await page.getByRole('tab', { name: 'Rules' }).click();
    await save(page);
    expect(await conditionsOf(organisations, id)).toEqual(conditions);
  });
});
