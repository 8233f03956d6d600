/** Unsaved changes of records: conflicts with other changes, the end of a session, a reload, and a browser without network. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { TestUser } from '../harness.ts';
import { type ConsoleService, it } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

interface Newsroom {
  readonly newsroom: ConsoleService;
  readonly story: Story;
}

let count = 0;

/** Creates an article of its own for a test, and returns its id. */
function createArticle({ newsroom, story }: Newsroom): Promise<string> {
  const slug = `draft-${++count}`;
  return newsroom.createRecord('Article', { title: `Article ${slug}`, slug, authorId: story.tom.id, fee: '1.00' });
}

async function loadArticle({ newsroom, story }: Newsroom, id: string): Promise<unknown> {
  return (await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token })).at('data');
}

/** Changes an article as another client. */
async function changeArticle({ newsroom, story }: Newsroom, id: string, body: object): Promise<void> {
  const reply = await newsroom.call('PUT', `/api/Article/${id}`, { token: story.admin.token, body });
  expect(reply.status).toBe(200);
}

async function endSessions(newsroom: ConsoleService, userId: string): Promise<void> {
  const { token } = await newsroom.admin();
  const { status } = await newsroom.call('DELETE', `/admin/api/users/${userId}/sessions`, { token });
  expect(status).toBe(200);
}

async function signInAgain(page: Page, { email, password }: TestUser): Promise<void> {
  await page.getByText('Your session has ended').waitFor();
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

function field(page: Page, name: string) {
  return page.getByRole('textbox', { name, exact: true });
}

function conflictOf(page: Page) {
  return page.getByRole('region', { name: 'This record was changed meanwhile' });
}

/** Returns the form values that the tab keeps, as text. */
function keptText(page: Page): Promise<string> {
  return page.evaluate<string>(`sessionStorage.getItem('bailiwick-kept-records') ?? ''`);
}

describe('a conflict of two changes', () => {
  it('asks for each field that both have changed, merges the others, and saves the chosen values', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await field(page, 'title').fill('My title');
    await field(page, 'slug').fill('my-slug');
    await field(page, 'fee').fill('2.00');
    const theirs = { title: 'Their title', slug: 'their-slug', tags: ['theirs'] };
    await changeArticle({ newsroom, story }, id, theirs);
    await page.getByRole('button', { name: 'Save' }).click();
    const conflict = conflictOf(page);
    for (const text of [`Article draft-${count}`, 'My title', 'Their title', 'their-slug'])
      await conflict.getByText(text, { exact: true }).waitFor();
    expect(await conflict.getByRole('radiogroup').count()).toBe(2);
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject(theirs);
    await expectSoundScreen(page);
    // The merged values are not saved yet.
    await page.getByRole('link', { name: 'Show the decisions' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click();
    await conflict.getByRole('radiogroup', { name: 'Value of slug' }).getByText('Stored').click();
    await conflict.getByRole('button', { name: 'Save these values' }).click();
    await page.getByText('The record was saved.').waitFor();
    await page.getByRole('heading', { name: 'My title', level: 1 }).waitFor();
    const merged = { title: 'My title', slug: 'their-slug', fee: '2.00', tags: ['theirs'] };
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject(merged);
    await expect.poll(() => keptText(page)).toBe('');
  });

  it('continues in the form with the merged values, which can meet another change', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await field(page, 'title').fill('First of mine');
    await changeArticle({ newsroom, story }, id, { fee: '5.00' });
    await page.getByRole('button', { name: 'Save' }).click();
    await conflictOf(page).getByText('The two changes do not conflict.').waitFor();
    await conflictOf(page).getByRole('button', { name: 'Continue in the form' }).click();
    await expect.poll(() => field(page, 'fee').inputValue()).toBe('5.00');
    await changeArticle({ newsroom, story }, id, { title: 'Third' });
    await field(page, 'fee').fill('6.00');
    await page.getByRole('button', { name: 'Save' }).click();
    await conflictOf(page).getByRole('radiogroup', { name: 'Value of title' }).waitFor();
    await changeArticle({ newsroom, story }, id, { fee: '7.00' });
    await conflictOf(page).getByRole('button', { name: 'Save these values' }).click();
    await conflictOf(page).getByRole('radiogroup', { name: 'Value of fee' }).waitFor();
    await conflictOf(page).getByRole('button', { name: 'Save these values' }).click();
    await page.getByText('The record was saved.').waitFor();
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject({ title: 'First of mine', fee: '6.00' });
  });

  it('takes the stored values if they are wanted', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    visitor.allow(/^response 412: PUT/);
    await field(page, 'title').fill('Given up');
    await changeArticle({ newsroom, story }, id, { title: 'Kept by the other' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Take the stored values' }).click();
    await page.getByRole('heading', { name: 'Kept by the other', level: 1 }).waitFor();
    await expect.poll(() => field(page, 'title').inputValue()).toBe('Kept by the other');
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  });
});

describe('the tab', () => {
  it('unsaved changes survive the end of the session, and are merged with a change that was stored meanwhile', async ({
    newsroom,
    story,
    visitor,
  }) => {
    visitor.allow(/^response (40[13]|412)/);
    const id = await createArticle({ newsroom, story });
    const other = await newsroom.user({ name: 'Ends', role: 'admin' });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: other, isolated: true });
    await field(page, 'title').fill('Typed before the end');
    await field(page, 'fee').fill('3.00');
    await endSessions(newsroom, other.id);
    // The form itself may send a request that meets the end of the session, and be gone: the key is then pressed in vain.
    await page.keyboard.press('Enter');
    await page.getByText('Your session has ended').waitFor();
    await changeArticle({ newsroom, story }, id, { title: 'Stored meanwhile' });
    await signInAgain(page, other);
    await page.getByText('There are unsaved changes').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Restore the changes' }).click();
    await conflictOf(page).getByText('Stored meanwhile', { exact: true }).waitFor();
    // Until they are saved, they are kept.
    await page.reload();
    await page.getByRole('button', { name: 'Restore the changes' }).click();
    await conflictOf(page).getByText('Stored meanwhile', { exact: true }).waitFor();
    await conflictOf(page).getByRole('button', { name: 'Save these values' }).click();
    await page.getByText('The record was saved.').waitFor();
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject({ title: 'Typed before the end', fee: '3.00' });
    await expect.poll(() => keptText(page)).toBe('');
  });

  it('changes that follow the first save are guarded too', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    await field(page, 'title').fill('Saved first');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Saved first', level: 1 }).waitFor();
    await field(page, 'title').fill('Not saved');
    await page.getByRole('link', { name: 'Show the decisions' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click();
    await expect.poll(() => field(page, 'title').inputValue()).toBe('Not saved');
  });

  it('the values of a new record survive a reload, until they are saved', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Comment/new', { as: story.admin, isolated: true });
    page.on('dialog', (dialog) => void dialog.accept());
    await field(page, 'text').fill('Typed before the reload');
    await page.reload();
    await page.getByRole('button', { name: 'Restore the changes' }).click();
    await expect.poll(() => field(page, 'text').inputValue()).toBe('Typed before the reload');
    await page.getByLabel('articleId').first().click();
    await clickOption(page, /./);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The record was created.').waitFor();
    await expect.poll(() => keptText(page)).toBe('');
  });

  it('unsaved changes are discarded when the user leaves the form, and when the user signs out', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin, isolated: true });
    await field(page, 'title').fill('Left');
    await expect.poll(() => keptText(page)).toContain('Left');
    await page.getByRole('link', { name: 'Show the decisions' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Decisions', level: 1 }).waitFor();
    expect(await keptText(page)).toBe('');
    await page.goBack();
    await field(page, 'title').fill('Signed out');
    await expect.poll(() => keptText(page)).toContain('Signed out');
    await page.getByRole('button', { name: 'Admin' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await keptText(page)).toBe('');
  });

  it('the values of a user are kept without the password', async ({ newsroom, story, visitor }) => {
    const user = await newsroom.user({ name: 'Kept Partly' });
    const page = await visitor.open(newsroom, `/users/${user.id}`, { as: story.admin, isolated: true });
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit' });
    await dialog.getByLabel('name', { exact: true }).fill('Kept Whole');
    await dialog.getByLabel('password', { exact: true }).fill('secret horse battery');
    await expect.poll(() => keptText(page)).toContain('Kept Whole');
    await page.reload();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByText('Passwords and other secret values were not kept.').waitFor();
    expect(await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain('horse');
    await dialog.getByRole('button', { name: 'Restore the changes' }).click();
    await expect.poll(() => dialog.getByLabel('name', { exact: true }).inputValue()).toBe('Kept Whole');
    await expect.poll(() => dialog.getByLabel('password', { exact: true }).inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Kept Whole', level: 1 }).waitFor();
    await newsroom.logIn(user.email, user.password);
  });
});

describe('a browser without network', () => {
  it('says so, keeps the form, and saves it after the connection is back', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^request failed: /);
    const id = await createArticle({ newsroom, story });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin, isolated: true });
    await field(page, 'title').fill('Typed offline');
    await page.context().setOffline(true);
    await page.getByText('This device is offline. What you see may be out of date').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'Nothing was sent.' });
    await alert.waitFor();
    await expectSoundScreen(page);
    await page.context().setOffline(false);
    await alert.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('The record was saved.').waitFor();
    expect(await page.getByText('This device is offline').count()).toBe(0);
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject({ title: 'Typed offline' });
  });
});
