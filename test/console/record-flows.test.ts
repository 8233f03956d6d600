import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it, startConsole } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

interface Newsroom {
  readonly newsroom: ConsoleService;
  readonly story: Story;
}

let count = 0;

/** Creates an article of its own for a test, and returns its id. */
function createArticle({ newsroom, story }: Newsroom, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const slug = `flow-${++count}`;
  return newsroom.createRecord('Article', { title: `Article ${slug}`, slug, authorId: story.tom.id, ...fields });
}

async function loadArticle({ newsroom, story }: Newsroom, id: string) {
  const reply = await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token });
  return reply.at('data') as Readonly<Record<string, unknown>>;
}

function field(page: Page, name: string) {
  return page.getByRole('textbox', { name, exact: true });
}

/** Chooses an option of a list. */
async function pick(page: Page, list: string, option: string | RegExp): Promise<void> {
  await page
    .getByRole('combobox', { name: list })
    .or(page.getByRole('textbox', { name: list }))
    .first()
    .click();
  await clickOption(page, option);
}

describe('records', () => {
  it('creating marks each mistake at its field, keeps the input, and opens the new record', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article/new', { as: story.admin });
    visitor.allow(/^response 422: POST \/api\/Article$/);
    await field(page, 'title').fill('No');
    await field(page, 'slug').fill('Not a slug');
    await field(page, 'fee').fill('many');
    await pick(page, 'authorId', /Tom Okafor/);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    for (const name of ['title', 'slug', 'fee']) {
      await expect.poll(() => field(page, name).getAttribute('aria-invalid'), { message: `the mistake of ${name}` }).toBe('true');
    }
    await expect.poll(() => field(page, 'title').inputValue()).toBe('No');
    await expectSoundScreen(page);
    await field(page, 'title').fill('Created by a form');
    await field(page, 'slug').fill('created-by-a-form');
    await field(page, 'fee').fill('12.50');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Created by a form', level: 1 }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject({ slug: 'created-by-a-form', fee: '12.50', authorId: story.tom.id });
  });

  it('the form of another resource begins without the values of the form before it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Tip/new', { as: story.admin });
    await field(page, 'subject').waitFor();
    const openForm = (resource: string) => page.evaluate(`history.pushState({}, '', '/console/data/${resource}/new')`);
    await openForm('Comment');
    await field(page, 'text').fill('Only for the comment');
    // Both resources are loaded now, so the screen stays mounted.
    await openForm('Tip');
    await field(page, 'subject').waitFor();
    expect(await field(page, 'text').inputValue()).toBe('');
  });

  it('a typed filter offers the operators and values of its field, and its address can be shared', async ({ newsroom, story, visitor }) => {
    await createArticle({ newsroom, story }, { title: 'Cheap', fee: '0.10', department: 'culture' });
    await createArticle({ newsroom, story }, { title: 'Dear', fee: '950.00', department: 'culture' });
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    const choose = (list: string, option: string) => page.getByRole('combobox', { name: list }).selectOption({ label: option });
    await choose('Field', 'department');
    await choose('Value', 'culture');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => page.url()).toContain('culture');
    await choose('Field', 'fee');
    await choose('Operator', 'is at least');
    await field(page, 'Value').fill('900');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1 record', { exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Article' });
    await expect.poll(() => table.locator('tbody tr').allTextContents()).toEqual([expect.stringContaining('Dear')]);
    await page.reload();
    await table.getByText('Dear').waitFor();
    await page.getByRole('button', { name: 'Remove the filter on fee' }).click();
    await table.getByText('Cheap').waitFor();
  });

  it('deleting shows first what is deleted with the record and what refuses it', async ({ newsroom, story, visitor }) => {
    const id = await createArticle({ newsroom, story }, { title: 'To be deleted' });
    for (const text of ['one', 'two']) await newsroom.createRecord('Comment', { articleId: id, text });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this record?' });
    await dialog.getByText('2 Comment that refer to it by articleId are deleted too').waitFor();
    expect(await loadArticle({ newsroom, story }, id)).toMatchObject({ title: 'To be deleted' });
    await expectSoundScreen(page);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The record was deleted.').waitFor();
    await page.getByRole('heading', { name: 'Article', level: 1 }).waitFor();
    expect((await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token })).status).toBe(404);

    const author = await visitor.open(newsroom, `/data/User/${story.tom.id}`, { as: story.admin });
    await author.getByRole('button', { name: 'Delete' }).click();
    await author
      .getByRole('dialog')
      .getByText(/^\d+ Article: /)
      .waitFor();
  });

  it('a record that was changed meanwhile is deleted by the second attempt, after its change is shown', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await createArticle({ newsroom, story }, { title: 'Before the change' });
    const page = await visitor.open(newsroom, `/data/Article/${id}`, { as: story.admin });
    visitor.allow(/^response 412: DELETE/);
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this record?' });
    await dialog.getByText('The record is deleted permanently.').waitFor();
    await newsroom.call('PUT', `/api/Article/${id}`, { token: story.admin.token, body: { title: 'After the change' } });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('RECORD_VERSION').waitFor();
    await page.getByText('After the change').first().waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The record was deleted.').waitFor();
  });

  it('a soft-deleted record is restored from the list of deleted records', async ({ visitor, onTestFinished }) => {
    const definition = 'name: Note\nsoftDelete: true\nfields:\n  title: { type: string, required: true }\n';
    const service = await startConsole({ definitions: { 'Note.yaml': definition } });
    onTestFinished(() => service.close());
    const id = await service.createRecord('Note', { title: 'Restored note' });
    const page = await visitor.open(service, `/data/Note/${id}`, { as: await service.admin() });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('The record can be restored later.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is none yet.', { exact: true }).waitFor();
    await page.getByRole('switch', { name: 'Deleted records' }).check({ force: true });
    await page.getByRole('table', { name: 'Note' }).getByText('Restored note').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('checkbox', { name: 'Select Restored note' }).check();
    await page.getByRole('status').filter({ hasText: '1 record selected' }).waitFor();
    await page.getByRole('table', { name: 'Note' }).getByText('Restored note').click();
    await page.getByText('This record is deleted.').waitFor();
    await page.getByRole('row').filter({ hasText: 'deletedAt' }).waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The record was restored.').waitFor();
    await expect.poll(() => field(page, 'title').inputValue()).toBe('Restored note');
    await page.goto(`${service.console}/data/Note/${id}?deleted=true`);
    await page.getByText('There is no such deleted record').waitFor();
  });

  it('selected records are changed with one batch, and those that are refused say why and stay selected', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const [mine, other] = [{ department: 'politics' }, { department: 'sports', status: 'published' }];
    const ids = [
      await createArticle({ newsroom, story }, { title: 'Bulk change mine', ...mine }),
      await createArticle({ newsroom, story }, { title: 'Bulk change other', ...other }),
    ];
    const where = encodeURIComponent(JSON.stringify({ title: { icontains: 'bulk change' } }));
    const page = await visitor.open(newsroom, `/data/Article?where=${where}`, { as: story.maya });
    await page.getByText('2 records', { exact: true }).waitFor();
    // With the keyboard: the first row, then all of them.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 record selected').waitFor();
    await page.getByRole('button', { name: 'Select all 2 in this list' }).click();
    await page.getByText('2 records selected').waitFor();
    await page.getByRole('button', { name: 'Delete' }).hover();
    await page.getByRole('tooltip').filter({ hasText: 'do not let you delete' }).waitFor();
    await page.getByRole('button', { name: 'Change a field' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change a field of 2 records' });
    await dialog.getByText('1 record will be refused').waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Change' }).isDisabled()).toBe(true);
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption('fee');
    await dialog.getByRole('textbox', { name: 'fee' }).fill('7.50');
    await expectSoundScreen(page);
    const batches: string[] = [];
    page.on('request', (request) => request.url().endsWith('/api/batch') && batches.push(request.postData() ?? ''));
    await dialog.getByRole('button', { name: 'Change' }).click();
    const results = page.getByRole('alert').filter({ hasText: '1 record was refused' });
    await results.getByText('Bulk change other').waitFor();
    await results.getByText('An admin can look up why').waitFor();
    await results.getByText('1 record was changed.').waitFor();
    await page.getByText('1 record selected').waitFor();
    await expectSoundScreen(page);
    expect(batches).toHaveLength(1);
    const fees = await Promise.all(ids.map(async (id) => (await loadArticle({ newsroom, story }, id))['fee']));
    expect(fees).toEqual(['7.50', null]);
  });

  it('deleting several records shows what goes along, and asks for a typed word', async ({ newsroom, story, visitor }) => {
    const ids = [
      await createArticle({ newsroom, story }, { title: 'Bulk deletion one' }),
      await createArticle({ newsroom, story }, { title: 'Bulk deletion two' }),
    ];
    await newsroom.createRecord('Comment', { articleId: ids[0], text: 'goes along' });
    const where = encodeURIComponent(JSON.stringify({ title: { icontains: 'bulk deletion' } }));
    const page = await visitor.open(newsroom, `/data/Article?where=${where}`, { as: story.admin });
    await page.getByRole('checkbox', { name: 'Select Bulk deletion one' }).check();
    await page.getByRole('checkbox', { name: 'Select Bulk deletion two' }).check();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 records?' });
    await dialog.getByText('Up to 1 Comment that refer to them by articleId are deleted too').waitFor();
    await expectSoundScreen(page);
    await expect.poll(() => dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Type delete 2 to confirm' }).fill('delete 2');
    // Another user changes one of them meanwhile.
    await newsroom.call('PUT', `/api/Article/${ids[1]}`, { token: story.admin.token, body: { fee: '1.00' } });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alert').getByText('Bulk deletion two').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const statuses = async () =>
      Promise.all(ids.map(async (id) => (await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token })).status));
    expect(await statuses()).toEqual([404, 200]);
    // The list has the new version, so the refused record can be tried again.
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('delete 1');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    // The message that one record was deleted may still be there from the first deletion.
    await expect.poll(statuses).toEqual([404, 404]);
    // The buttons above the list are gone, and the focus is on the button of the empty list.
    await expect.poll(() => page.locator('main button:focus').textContent()).toBe('Remove the filters');
  });

  it('an empty list leads to the form of its first record', async ({ visitor, onTestFinished }) => {
    const service = await startConsole({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
    onTestFinished(() => service.close());
    const page = await visitor.open(service, '/data/Note', { as: await service.admin() });
    await page.getByText('There is none yet.', { exact: true }).waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Create the first record' }).click();
    await field(page, 'title').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/data/Note/new');
  });

  it('a record says what its user may not do with it and why, and offers no change', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('final-in-the-rain')}`, { as: story.maya });
    // Maya may not read the author, so the form shows the id.
    visitor.allow(/^response 403: GET \/api\/User\//);
    await page.getByText('What you may do with this record').waitFor();
    await page.getByText('update denied').waitFor();
    await expect.poll(() => field(page, 'title').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    const remove = page.getByRole('button', { name: 'Delete' });
    await expect.poll(() => remove.getAttribute('aria-disabled')).toBe('true');
    await remove.hover();
    await page.getByRole('tooltip').waitFor();
    await expectSoundScreen(page);
  });
});
