import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it, startConsole } from './console.fixture.ts';
import { choose, press, tabTo, typeInto } from './keyboard.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Opens the link that the service prints at its start, and creates the first admin. */
async function createFirstAdmin(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Welcome to Bailiwick' }).waitFor();
  // The form is shown later than the heading, with the focus in its first field.
  await page.locator('input[name="name"]:focus').waitFor();
  await page.keyboard.type('Ada');
  await typeInto(page, /^Email/, 'ada@example.com');
  await typeInto(page, /^Password/, 'correct horse battery');
  await press(page, 'Create the admin');
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
}

/** Waits until a step has this mark beside its title. */
function stepWith(page: Page, title: string, mark: 'done' | 'next'): Promise<void> {
  return page.getByRole('heading', { name: title, level: 2 }).locator('..').getByText(mark, { exact: true }).waitFor();
}

/** Starts a service without an admin. */
async function startEmpty(onTestFinished: (close: () => Promise<void>) => void): Promise<ConsoleService> {
  const service = await startConsole({ project: 'examples/newsroom', settings: { setup: 'token' } });
  onTestFinished(() => service.close());
  return service;
}

describe('the first steps', () => {
  it('the keyboard alone leads from the set-up link to the first explained decision, and a reload resumes', async ({
    visitor,
    onTestFinished,
  }) => {
    const service = await startEmpty(onTestFinished);
    const page = await visitor.open(service, `/setup#token=${await service.openSetup()}`);
    await createFirstAdmin(page);

    await stepWith(page, '1. Create a policy', 'next');
    await choose(page, 'Template', 'Read-only');
    await press(page, 'Create the policy');
    await stepWith(page, '1. Create a policy', 'done');

    await stepWith(page, '2. Assign it to a role', 'next');
    // The policy of admins, which the set-up has created, would let every user of the role do everything.
    expect(await choose(page, 'Policy', 'Read-only')).toEqual(['Read-only']);
    await choose(page, 'Role', 'editor');
    await press(page, 'Assign');
    await page.getByText('Read-only is assigned to editor.').waitFor();

    await page.reload();
    await stepWith(page, '2. Assign it to a role', 'done');
    await stepWith(page, '3. Ask what it decides', 'next');
    await choose(page, 'Action', 'list');
    await choose(page, 'Resource', 'Article');
    await press(page, 'Decide for role editor');
    await page.getByRole('link', { name: 'Decided by Read-only' }).waitFor();
    const again = page.waitForResponse('**/test-access?*');
    await press(page, 'Decide for role editor');
    expect((await again).status()).toBe(200);
    await expectSoundScreen(page);

    await stepWith(page, '4. See your first decision', 'next');
    await press(page, 'List Article and open the decision');
    await page.getByRole('heading', { name: 'Decision', level: 1 }).waitFor();
    await page.getByText('list Article').waitFor();
    await page.getByText('decided', { exact: true }).waitFor();
  });

  it('the steps of a new service offer no policy, and the overview leads to them', async ({ visitor, onTestFinished }) => {
    const service = await startEmpty(onTestFinished);
    const page = await visitor.open(service, '/', { as: await service.admin() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Only administrators have access so far').waitFor();
    await press(page, 'Continue with the first steps');
    await stepWith(page, '1. Create a policy', 'next');
    await tabTo(page, 'Policy');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('option').filter({ visible: true }).count()).toBe(0);
    expect(await page.getByRole('main').textContent()).not.toContain('Full access is assigned');
  });
});
