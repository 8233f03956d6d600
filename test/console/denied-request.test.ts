/** The way from a denied request to the rule that would have allowed it, for the user who was denied and for an admin. */
import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { TestUser } from '../harness.ts';
import { type ConsoleService, it } from './console.fixture.ts';
import { WINDOW_SIZES } from './console-browser.ts';
import type { Story } from './newsroom-story.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Lets a user change an article. Returns the id of the decision, which is a denial. */
async function changeAs({ newsroom, story }: { newsroom: ConsoleService; story: Story }, user: TestUser, slug: string): Promise<string> {
  const path = `/api/Article/${story.articles.get(slug)}`;
  const reply = await newsroom.call('PUT', path, { token: user.token, body: { status: 'draft' } });
  expect(reply.status).toBe(403);
  return String(reply.headers['x-decision-id']);
}

/** Waits until a part of the page is in the window. */
async function expectInView(part: Locator): Promise<void> {
  const top = async (): Promise<number | undefined> => (await part.boundingBox())?.y;
  await expect.poll(top).toBeLessThan(WINDOW_SIZES.desktop.height);
}

describe('a denied request', () => {
  it('a record that may not be read shows what its user may do, the number of the decision, and the way back', async ({
    newsroom,
    story,
    visitor,
  }) => {
    visitor.allow(/^response 403/);
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('the-minister-resigns')}`, { as: story.rita });
    const id = await page.getByRole('alert').locator('code').first().textContent();
    await page.getByText('read denied').waitFor();
    expect(await page.getByText('articles under embargo').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await expectSoundScreen(page);
    const [entry] = await newsroom.decisions(`userId=${story.rita.id}&action=read&allowed=false&limit=1`);
    expect(id).toBe(entry?.['id']);
    await page.getByRole('link', { name: 'Back to the records of Article' }).click();
    await page.getByRole('heading', { name: 'Article', level: 1 }).waitFor();
  });

  it('a record is opened by its id by a user who may read records and not list them', async ({ newsroom, visitor }) => {
    const reader = await newsroom.user({ name: 'Reads by Id' });
    await newsroom.createPolicy({ name: 'Read tips', userId: reader.id, rules: [{ resource: 'Tip', action: 'read' }] });
    const tip = await newsroom.createRecord('Tip', { subject: 'Known by its id', text: 'Look there' });
    const page = await visitor.open(newsroom, '/data/Tip', { as: reader });
    await page.getByText('do not let you list here').waitFor();
    await expectSoundScreen(page);
    await page.getByLabel('Id of a record').fill(` ${tip} `);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Known by its id' }).waitFor();
  });

  it('a form sends no request for the names of records that its user may not see', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('harbour-reopens')}`, { as: story.rita });
    await page.getByText('read allowed').waitFor();
    await page.waitForLoadState('networkidle');
    await expect.poll(() => page.getByRole('textbox', { name: 'authorId' }).inputValue()).toBe(story.maya.id);
    expect(await newsroom.decisions(`userId=${story.rita.id}&resource=User`)).toEqual([]);
  });

  it('a near miss opens the form of its rule, and the simulator asks the same question', async ({ newsroom, story, visitor }) => {
    const id = await changeAs({ newsroom, story }, story.tom, 'a-budget-at-last');
    const page = await visitor.open(newsroom, `/decisions/${id}`, { as: story.admin });
    await page.getByRole('link', { name: 'update articles of their department' }).first().click();
    const rule = page.locator('[data-path="rules.2"]');
    await rule.getByRole('textbox', { name: 'Description' }).waitFor();
    await expect.poll(() => rule.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('update articles of their department');
    await expectInView(rule);
    await page.goBack();
    await page.getByRole('link', { name: 'Ask the same in the simulator' }).click();
    await page.getByText('One condition away').first().waitFor();
    const { at } = await newsroom.call('GET', `/admin/api/decisions/${id}`, { token: story.admin.token });
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      ...{ user: story.tom.id, resource: 'Article', action: 'update', id: story.articles.get('a-budget-at-last') },
      ...{ role: 'editor', time: at('data.at'), ip: '127.0.0.1', draft: 'none', unrecorded: 'status' },
      attributes: JSON.stringify('{"department":"sports"}'),
      fields: JSON.stringify('{"tags":["council","budget","vote"],"department":"politics"}'),
    });
    await page.getByText('The values of status were not recorded').waitFor();
    // The first click asks: the text that was typed stays as it is, and the button where it is.
    await page.getByRole('textbox', { name: 'Values of the request (JSON)' }).fill('{"status":"draft"}');
    await page.getByText('The question has changed.').waitFor();
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('The question has changed.').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('data')).toBe(JSON.stringify('{"status":"draft"}'));
    expect(await page.getByText('The values of status were not recorded').count()).toBe(0);
  });

  it('a new rule is in view with the focus in its form', async ({ newsroom, story, visitor }) => {
    const own = { resource: 'Article', action: 'read', conditions: [{ field: 'resource.createdBy', operator: 'eq', value: '${user.id}' }] };
    const user = await newsroom.user();
    const policyId = await newsroom.createPolicy({ name: 'Policy that gets a rule', userId: user.id, rules: Array(6).fill(own) });
    const page = await visitor.open(newsroom, `/policies/${policyId}`, { as: story.admin });
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const rule = page.locator('[data-path="rules.6"]');
    await rule.getByText('read on Article').waitFor();
    await rule.locator(':focus').waitFor({ state: 'attached' });
    await expectInView(rule);
  });

  it('a user who may create but not read records returns to the records after each creation', async ({ newsroom, visitor }) => {
    const user = await newsroom.user({ name: 'Cora Creator' });
    await newsroom.createPolicy({ userId: user.id, rules: [{ resource: 'Tip', action: 'create', description: 'create tips' }] });
    const page = await visitor.open(newsroom, '/data/Tip/new', { as: user });
    await page.getByRole('textbox', { name: 'subject', exact: true }).fill('From a creator');
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('not to be read');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText(/^The record was created: [\da-f-]{36}$/).waitFor();
    await page.waitForURL(/\/data$/);
    expect(await page.getByText('ACCESS_DENIED').count()).toBe(0);
    await expectSoundScreen(page);
  });

  it('a user who may read some records opens a new record only if it is one of them, and none is denied', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const user = await newsroom.user({ name: 'Cleo Creator' });
    const isShared = { field: 'resource.subject', operator: 'startsWith', value: 'Shared' };
    const rules = [
      { resource: 'Tip', action: 'create', description: 'create tips' },
      { resource: 'Tip', action: 'read', description: 'read shared tips', conditions: [isShared] },
    ];
    await newsroom.createPolicy({ userId: user.id, rules });
    const page = await visitor.open(newsroom, '/data/Tip/new', { as: user });
    const create = async (subject: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'subject', exact: true }).fill(subject);
      await page.getByRole('textbox', { name: 'text', exact: true }).fill('read by some');
      await page.getByRole('button', { name: 'Create' }).click();
    };
    await create('Shared with all');
    await page.getByRole('heading', { name: 'Shared with all', level: 1 }).waitFor();
    await page.goto(`${newsroom.console}/data/Tip/new`);
    await create('Kept to oneself');
    await page.getByText(/^The record was created: [\da-f-]{36}$/).waitFor();
    await page.waitForURL(/\/data$/);
    const denials = await newsroom.call('GET', `/admin/api/decisions?userId=${user.id}&allowed=false`, { token: story.admin.token });
    expect(denials.body).toMatchObject({ data: [] });
  });
});
