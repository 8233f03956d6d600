/** The controls of the fields of a record, and the values that they store. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it as register, startConsole } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

const DEFINITION = `name: Sheet
fields:
  title: { type: string, required: true }
  state: { type: enum, values: [a, b, c], default: b }
  agreed: { type: boolean, required: true }
  public: { type: boolean }
  short: { type: string, maxLength: 5 }
  tags: { type: list, of: string }
`;

const it = register.extend('service', { scope: 'file' }, async ({ project: _project }, { onCleanup }) => {
  const service = await startConsole({ definitions: { 'Sheet.yaml': DEFINITION } });
  onCleanup(() => service.close());
  return { service, admin: await service.user({ name: 'Admin', role: 'admin' }) };
});

function field(page: Page, name: string) {
  return page.getByRole('textbox', { name, exact: true });
}

/** Chooses an option of a list. A chosen option is cleared. */
async function pick(page: Page, list: string, option: string): Promise<void> {
  await page
    .getByRole('combobox', { name: list })
    .or(page.getByRole('textbox', { name: list }))
    .first()
    .click();
  await clickOption(page, option);
}

/** Creates the record of a form, and returns it. */
async function create(page: Page, service: ConsoleService): Promise<unknown> {
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The record was created.').waitFor();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  return load(service, new URL(page.url()).pathname.split('/').at(-1) ?? '');
}

async function load(service: ConsoleService, id: string): Promise<unknown> {
  const { token } = await service.admin();
  return (await service.call('GET', `/api/Sheet/${id}`, { token })).at('data');
}

describe('the form of a stored record', () => {
  it('shows the line breaks of a text of one line, and keeps them', async ({ service: { service, admin }, visitor }) => {
    const id = await service.createRecord('Sheet', { title: 'one\ntwo', agreed: true });
    const page = await visitor.open(service, `/data/Sheet/${id}`, { as: admin });
    await expect.poll(() => field(page, 'title').inputValue()).toBe('one\ntwo');
    await field(page, 'title').press('End');
    await field(page, 'title').press('!');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The record was saved.').waitFor();
    expect(await load(service, id)).toMatchObject({ title: expect.stringMatching(/^one!?\ntwo!?$/) });
    await expectSoundScreen(page);
  });
});

describe('the form of a new record', () => {
  it('a default value that the user clears is not stored', async ({ service: { service, admin }, visitor }) => {
    const page = await visitor.open(service, '/data/Sheet/new', { as: admin });
    await field(page, 'title').fill('Cleared');
    await page.getByRole('switch', { name: 'agreed' }).check({ force: true });
    await pick(page, 'state', 'b');
    expect(await create(page, service)).toMatchObject({ state: null, agreed: true });
  });

  it('a boolean that must have a value begins with false, and one that may have none begins without', async ({
    service: { service, admin },
    visitor,
  }) => {
    const page = await visitor.open(service, '/data/Sheet/new', { as: admin });
    await field(page, 'title').fill('Untouched');
    visitor.allow(/^response 422/);
    expect(await create(page, service)).toMatchObject({ state: 'b', agreed: false, public: null });
    await pick(page, 'public', 'no');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The record was saved.').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await load(service, id)).toMatchObject({ public: false });
  });

  it('a text may have as many characters as the definition says, and a longer one is marked, not cut', async ({
    service: { service, admin },
    visitor,
  }) => {
    const page = await visitor.open(service, '/data/Sheet/new', { as: admin });
    visitor.allow(/^response 422/);
    await page.getByRole('switch', { name: 'agreed' }).check({ force: true });
    await field(page, 'title').fill('Counted');
    await field(page, 'short').fill('🦊🦊🦊🦊🦊🦊');
    expect(await field(page, 'short').inputValue()).toBe('🦊🦊🦊🦊🦊🦊');
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => field(page, 'short').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'short').fill('🦊🦊🦊🦊🦊');
    expect(await create(page, service)).toMatchObject({ short: '🦊🦊🦊🦊🦊' });
  });
});

describe('the list of a record', () => {
  it('equal items are removed and added one by one', async ({ service: { service, admin }, visitor }) => {
    const id = await service.createRecord('Sheet', { title: 'Listed', agreed: true, tags: ['x', 'x', 'a,b'] });
    const page = await visitor.open(service, `/data/Sheet/${id}`, { as: admin });
    await page.getByRole('button', { name: 'Remove x' }).first().click();
    expect(await page.getByRole('button', { name: 'Remove x' }).count()).toBe(1);
    await field(page, 'tags').fill('a');
    await field(page, 'tags').press('Enter');
    await field(page, 'tags').fill('a');
    await field(page, 'tags').press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The record was saved.').waitFor();
    expect(await load(service, id)).toMatchObject({ tags: ['x', 'a,b', 'a', 'a'] });
  });
});
