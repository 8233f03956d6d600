/** Unsaved changes that a tab keeps while their screen is not open. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it } from './console.fixture.ts';

const RULE = { resource: 'Tip', action: 'read', description: 'read tips' };

/** Changes the description of a policy, and opens the simulator, which tries the changes. */
async function changeAndTry(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Description' }).fill('not saved');
  await page.getByText('no mistakes').waitFor();
  await page.getByRole('link', { name: 'Simulator' }).click();
  await page.waitForURL(/\/simulator.*#draft=/);
}

async function signOut(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

async function signIn(page: Page, { email, password }: { readonly email: string; readonly password: string }): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function endSessions(service: ConsoleService, userId: string): Promise<void> {
  const { token } = await service.admin();
  await service.call('DELETE', `/admin/api/users/${userId}/sessions`, { token });
}

describe('a policy', () => {
  it('kept changes are lost by signing out only after a question', async ({ newsroom, visitor }) => {
    const user = await newsroom.user({ name: 'Kara Kept', role: 'admin' });
    const id = await newsroom.createPolicy({ name: 'kept while signing out', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: user, isolated: true });
    await changeAndTry(page);
    await signOut(page, 'Kara Kept');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Stay' }).click();
    await page.goBack();
    await page.getByRole('button', { name: 'Restore the changes' }).waitFor();
    await signOut(page, 'Kara Kept');
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('kept changes are lost by closing the page only after a question', async ({ newsroom, visitor }) => {
    const user = await newsroom.user({ name: 'Clara Closed', role: 'admin' });
    const id = await newsroom.createPolicy({ name: 'kept while closing', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: user, isolated: true });
    await changeAndTry(page);
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Simulator', level: 1 }).waitFor();
    expect(asked).toEqual(['beforeunload']);
  });

  it('kept changes are not tried for the next user of the tab', async ({ newsroom, visitor }) => {
    const first = await newsroom.user({ name: 'First Admin', role: 'admin' });
    const next = await newsroom.user({ name: 'Next Admin', role: 'admin' });
    const id = await newsroom.createPolicy({ name: 'tried by the first', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: first, isolated: true });
    await changeAndTry(page);
    visitor.allow(/^response 401/);
    await endSessions(newsroom, first.id);
    await page.getByRole('button', { name: /^Ask if you may list/ }).click();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, next);
    await page.getByRole('button', { name: 'Next Admin' }).waitFor();
    await page.getByRole('heading', { name: 'Simulator', level: 1 }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.getByRole('link', { name: 'Preview', exact: true }).click();
    await page.getByRole('heading', { name: 'Preview', level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: /^Draft/ }).inputValue()).toBe('');
  });

  it('kept changes stay until their user decides about them, also while others are typed', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'kept until decided', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    page.on('dialog', (dialog) => void dialog.accept());
    const description = page.getByRole('textbox', { name: 'Description' });
    await changeAndTry(page);
    await page.goBack();
    const restore = page.getByRole('button', { name: 'Restore the changes' });
    await restore.waitFor();
    await description.fill('typed later');
    await page.getByText('no mistakes').waitFor();
    await restore.waitFor();
    await page.reload();
    await restore.click();
    await expect.poll(() => description.inputValue()).toBe('not saved');
  });

  it('kept changes are not offered after others are saved', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'saved over kept', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await changeAndTry(page);
    await page.goBack();
    const offer = page.getByText('You have unsaved changes of this policy');
    await offer.waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('saved');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The policy was saved.').waitFor();
    await offer.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(`sessionStorage.getItem('bailiwick-kept-drafts')`)).toBe(null);
  });
});

describe('a full storage of the tab', () => {
  it('the editor of a policy reports it, goes on, and asks before the changes are lost on another screen', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await newsroom.createPolicy({ name: 'not kept', rules: [RULE] });
    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin, isolated: true });
    await page.getByRole('textbox', { name: 'Description' }).waitFor();
    await page.evaluate(`for (let part = 2 ** 23, item = 0; part >= 1; item++) {
      try { sessionStorage.setItem(String(item), 'x'.repeat(part)); } catch { part /= 2; }
    }`);
    await page.getByRole('textbox', { name: 'Description' }).fill('typed into a full tab');
    await page.getByText('These changes are too large to be kept in this tab.').waitFor();
    await page.getByRole('link', { name: 'Simulator' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click();
    await page.evaluate('sessionStorage.clear()');
    await page.getByRole('textbox', { name: 'Description' }).fill('kept again');
    await page.getByText('These changes are too large to be kept in this tab.').waitFor({ state: 'detached' });
  });
});

describe('a record', () => {
  it('kept values stay until their user decides about them, also while others are typed, saved or left', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await newsroom.createRecord('Article', { title: 'Kept', slug: 'kept-values', authorId: story.tom.id, fee: '1.00' });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin, isolated: true });
    page.on('dialog', (dialog) => void dialog.accept());
    const field = (name: string) => page.getByRole('textbox', { name, exact: true });
    const restore = page.getByRole('button', { name: 'Restore the changes' });
    const keptText = () => page.evaluate<string>(`sessionStorage.getItem('bailiwick-kept-records') ?? ''`);
    await field('title').fill('Typed first');
    await expect.poll(keptText).toContain('Typed first');
    await page.reload();
    await restore.waitFor();
    await field('fee').fill('2.00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The record was saved.').waitFor();
    await field('fee').fill('3.00');
    await page.getByRole('link', { name: 'Show the decisions' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Decisions', level: 1 }).waitFor();
    await page.goBack();
    await restore.waitFor();
    await field('fee').fill('4.00');
    await page.reload();
    await restore.click();
    // The version of the kept values is no longer the stored one.
    await page.getByRole('region', { name: 'This record was changed meanwhile' }).getByText('Typed first', { exact: true }).waitFor();
  });
});

describe('signing out', () => {
  it('ends the session of the other tabs, and removes what they keep', async ({ newsroom, visitor }) => {
    const user = await newsroom.user({ name: 'Tara Tabs', role: 'admin' });
    const id = await newsroom.createRecord('Tip', { subject: 'Shown in two tabs', text: 'as stored' });
    const page = await visitor.open(newsroom, `/data/Tip/${id}`, { as: user, isolated: true });
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('typed secret');
    await expect.poll(() => page.evaluate('sessionStorage.length')).toBe(1);
    const other = await page.context().newPage();
    await other.goto(`${newsroom.console}/policies`);
    await signOut(other, 'Tara Tabs');
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});
