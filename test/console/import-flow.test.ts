import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { clickOption } from './options.ts';
import { waitForData } from './page-requests.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Chooses a file in the dialog of imports. */
async function openFile(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page.getByRole('heading', { name: 'Columns of the file' }).waitFor();
}

function fieldOf(page: Page, column: string) {
  const name = `Field of the column ${column}`;
  return page.getByRole('combobox', { name }).or(page.getByRole('textbox', { name })).first();
}

async function choose(page: Page, column: string, field: string): Promise<void> {
  await fieldOf(page, column).click();
  await clickOption(page, field);
}

function article({ tom }: Story, slug: string, cells = 'sports;x'): string {
  return `"Title; of ${slug}";${slug};${tom.id};${cells}`;
}

describe('the import of records', () => {
  it('columns are mapped to fields, a dry run changes nothing, and the rejected rows are saved, corrected and imported', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const header = '\uFEFFTITLE;Slug;author id;Desk;<img src=x onerror="globalThis.attacked=1">';
    const rows = [article(story, 'mapped-one'), article(story, 'mapped-two', 'weather;x'), article(story, 'Not a slug')];
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await openFile(page, 'articles.csv', [header, ...rows].join('\r\n'));
    await expect.poll(() => fieldOf(page, 'TITLE').inputValue()).toBe('title');
    await expect.poll(() => fieldOf(page, 'author id').inputValue()).toBe('authorId');
    await expect.poll(() => fieldOf(page, 'Desk').inputValue()).toBe('');
    await page.getByText('Left out: Desk, <img src=x').waitFor();
    await expectSoundScreen(page);
    await choose(page, 'Desk', 'department');

    await page.getByRole('button', { name: 'Try without changing anything' }).click();
    const tried = 'Nothing was changed. 1 would be imported, 0 would be updated, 0 would stay unchanged, 2 would be rejected';
    await page.getByText(tried).waitFor();
    await page.getByRole('group', { name: 'Result of the import' }).and(page.locator(':focus')).waitFor();
    const box = await page.getByText(tried).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
    const found = async (): Promise<unknown> =>
      (await newsroom.call('GET', '/api/Article?where[slug][startsWith]=mapped-&sort=slug', { token: story.admin.token })).at('data');
    expect(await found()).toEqual([]);
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByText(/^1 imported, 0 updated, 0 unchanged, 2 rejected$/).waitFor();
    expect(await found()).toMatchObject([
      { slug: 'mapped-one', title: 'Title; of mapped-one', department: 'sports', authorId: story.tom.id },
    ]);
    await page.getByRole('table', { name: 'Rejected rows' }).getByText('department: ').waitFor();
    await expectSoundScreen(page);

    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the rejected rows' }).click();
    const rejected = await readFile(await (await saved).path(), 'utf8');
    const lines = rejected.trimEnd().split('\r\n');
    expect(lines).toEqual([
      `${header.slice(1)};import error`,
      expect.stringContaining(`${rows[1]};`),
      expect.stringContaining(`${rows[2]};`),
    ]);
    await page.keyboard.press('Escape');
    await openFile(page, 'rejected.csv', rejected.replace('weather', 'culture').replace('Not a slug";Not a slug', 'three";mapped-three'));
    await expect.poll(() => fieldOf(page, 'import error').inputValue()).toBe('');
    await choose(page, 'Desk', 'department');
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByText(/^2 imported, 0 updated, 0 unchanged, 0 rejected$/).waitFor();
    expect(await found()).toMatchObject([{ slug: 'mapped-one' }, { slug: 'mapped-three' }, { slug: 'mapped-two', department: 'culture' }]);
  });

  it('members of JSON are mapped, and records that exist are updated by a unique field', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createRecord('Article', { title: 'Before', slug: 'json-one', authorId: story.tom.id });
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await openFile(page, 'articles.json', JSON.stringify({ data: [{ Slug: 'json-one', Headline: 'After', note: 1 }] }));
    await page.getByText('No column has the required fields title, authorId').waitFor();
    await choose(page, 'Headline', 'title');
    const key = page
      .getByRole('combobox', { name: 'Update records that exist, found by' })
      .or(page.getByRole('textbox', { name: 'Update records that exist, found by' }))
      .first();
    await key.click();
    await clickOption(page, 'slug');
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByText(/^0 imported, 1 updated, 0 unchanged, 0 rejected$/).waitFor();
    const reply = await newsroom.call('GET', `/api/Article/${id}`, { token: story.admin.token });
    expect(reply.at('data.title')).toBe('After');

    // Without skipping, the import ends at the row that is refused. The row before it stays.
    const rows = [
      { title: 'Kept', slug: 'json-two', authorId: story.tom.id },
      { title: 'Refused', slug: 'Not a slug' },
    ];
    await page.keyboard.press('Escape');
    await openFile(page, 'articles.ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
    await page.getByRole('switch', { name: 'Skip rejected rows' }).uncheck({ force: true });
    visitor.allow(/^response 422: POST .*import/);
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByRole('alert').getByText('VALUE_INVALID').waitFor();
    await page.getByText('Before the error: 1 imported, 0 updated, 0 unchanged, 1 rejected').waitFor();
    await page.getByText('These rows are stored').waitFor();
    await expectSoundScreen(page);
  });

  it('an import that takes long shows its progress, asks before its screen is left, and can be stopped', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const rows = Array.from({ length: 40_000 }, (_, index) => `Long ${index},long-${index},${story.tom.id}`);
    const page = await visitor.open(newsroom, '/data', { as: story.admin });
    await page.getByRole('link', { name: 'Article', exact: true }).first().click();
    await openFile(page, 'long.csv', ['title,slug,authorId', ...rows].join('\n'));
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByText(/^Row [1-9][\d,]*: [1-9][\d,]* imported/).waitFor();
    await page.goBack();
    await page.getByText('It is running. Rows that are stored stay.').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The import was stopped.').waitFor();
    const { at } = await newsroom.call('GET', '/api/Article?where[slug][startsWith]=long-&limit=1&total=true', {
      token: story.admin.token,
    });
    expect(Number(at('total'))).toBeLessThan(rows.length);
  });

  it('a file that is read late does not replace the one that was chosen after it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await page.evaluate(`const read = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = function () {
        Blob.prototype.arrayBuffer = read;
        return new Promise((done) => { globalThis.readFirst = () => done(read.call(this)); });
      };`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const choose = (name: string, text: string): Promise<void> =>
      page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await choose('first.csv', 'title,department\n');
    await page.waitForFunction('globalThis.readFirst !== undefined');
    await choose('second.csv', 'title,slug\n');
    await fieldOf(page, 'slug').waitFor();
    await page.evaluate('readFirst()');
    await waitForData(page);
    expect(await fieldOf(page, 'slug').count()).toBe(1);
  });

  it.for([
    ['lost', (route: Route) => route.abort('connectionreset')],
    ['replaced by a proxy', (route: Route) => route.fulfill({ status: 504, body: 'Gateway Timeout' })],
  ] as const)(
    'an import whose answer is $0 may have stored its rows, and is not repeated',
    async ([cause, lose], { newsroom, story, visitor }) => {
      visitor.allow(/^(request failed|response 504): POST .*import/);
      const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
      await openFile(page, 'lost.csv', `title,slug,authorId\nLost,${cause.replaceAll(' ', '-')},${story.tom.id}`);
      await page.route('**/api/Article/import**', async (route) => {
        await route.fetch();
        await lose(route);
      });
      await page.getByRole('button', { name: 'Import', exact: true }).last().click();
      const result = page.getByRole('group', { name: 'Result of the import' });
      await result.getByText('The answer was lost. Rows may have been stored.').waitFor();
      expect(await result.getByText('0 imported').count()).toBe(0);
      expect(await result.getByRole('button', { name: 'Retry' }).count()).toBe(0);
      await expectSoundScreen(page);
      await page.unroute('**/api/Article/import**');
    },
  );
});
