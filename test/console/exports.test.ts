/** Exports in the browser: their progress, their end by the user, and files that end early. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Answers exports of the page with a file whose parts the test sends. */
async function holdExports(page: Page): Promise<void> {
  await page.evaluate(`{
    const send = globalThis.fetch;
    globalThis.fetch = async (request, ...options) => {
      if (!String(request.url).includes('/export')) return send(request, ...options);
      return new Response(new ReadableStream({
        start(file) {
          globalThis.held = { write: (text) => file.enqueue(new TextEncoder().encode(text)), end: () => file.close() };
          globalThis.held.fail = () => file.error(new TypeError('network error'));
          request.signal.addEventListener('abort', () => { globalThis.held.isCancelled = true; file.error(request.signal.reason); });
        },
      }), { headers: { 'content-type': 'application/x-ndjson' } });
    };
  }`);
}

async function startExport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('menuitem', { name: 'NDJSON' }).click();
  await page.getByRole('dialog', { name: 'Export' }).getByText('0 rows, 0 B so far').waitFor();
}

/** Sends lines of the held export, and waits until the page says so. */
async function sendLines(page: Page, lines: number, shown: string): Promise<void> {
  await page.evaluate(`held.write('{"id":"1"}\\n'.repeat(${lines}))`);
  await page.getByRole('dialog', { name: 'Export' }).getByText(shown).waitFor();
}

describe('an export', () => {
  it('contains the records that match the filter in each format, and says how many', async ({ newsroom, story, visitor }) => {
    const where = encodeURIComponent(JSON.stringify({ department: { eq: 'sports' } }));
    const page = await visitor.open(newsroom, `/data/Article?where=${where}`, { as: story.admin });
    const found = await newsroom.call('GET', '/api/Article?where[department]=sports&limit=100', { token: story.admin.token });
    const rows = found.at('data') as readonly { readonly id: string }[];
    expect(rows.length).toBeGreaterThan(1);
    for (const format of ['CSV', 'NDJSON', 'JSON']) {
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      const started = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: format, exact: true }).click();
      const download = await started;
      expect(download.suggestedFilename()).toBe(`Article.${format.toLowerCase()}`);
      const text = await readFile(await download.path(), 'utf8');
      for (const { id } of rows) expect(text.split(id), format).toHaveLength(2);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      // A message stays for some seconds, and those of the other formats are alike.
      if (format === 'CSV') await page.getByText(`The file was saved: ${rows.length} rows, `).waitFor();
    }
  });

  it('shows the rows and bytes that have arrived, and saves the file at its end', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await page.getByRole('table', { name: 'Article' }).waitFor();
    await holdExports(page);
    await startExport(page);
    await sendLines(page, 1200, '1,200 rows, 13 KiB so far');
    await expectSoundScreen(page);
    // Only the button ends an export.
    await page.keyboard.press('Escape');
    await sendLines(page, 1, '1,201 rows, 13 KiB so far');
    const started = page.waitForEvent('download');
    await page.evaluate('held.end()');
    expect((await readFile(await (await started).path(), 'utf8')).split('\n')).toHaveLength(1202);
    await page.getByText('The file was saved: 1,201 rows, 13 KiB.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('ends when the user cancels it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h', { as: story.admin });
    await page.getByRole('table', { name: 'Decisions' }).waitFor();
    await holdExports(page);
    await startExport(page);
    await sendLines(page, 1, '1 row, 11 B so far');
    await page.getByRole('dialog', { name: 'Export' }).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('held.isCancelled')).toBe(true);
    expect(await page.getByText('The file was saved').count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: 'Export', exact: true }).isEnabled()).toBe(true);
  });

  it('says what had arrived if it ends early, saves no file, and is repeated', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await page.getByRole('table', { name: 'Article' }).waitFor();
    const downloads: unknown[] = [];
    page.on('download', (download) => downloads.push(download));
    await holdExports(page);
    await startExport(page);
    await sendLines(page, 3, '3 rows, 33 B so far');
    await page.evaluate('held.fail()');
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByText('No file was saved. 3 rows, 33 B, had arrived.').waitFor();
    await dialog.getByText('The export ended early').waitFor();
    await expectSoundScreen(page);
    expect(downloads).toEqual([]);
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.getByText('0 rows, 0 B so far').waitFor();
    await page.evaluate(`held.write('{}\\n'); held.end()`);
    await page.getByText('The file was saved: 1 row, 3 B.').waitFor();
    expect(downloads).toHaveLength(1);
  });

  it('shows the reason if it is refused', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^response 403: POST/);
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await page.getByRole('table', { name: 'Article' }).waitFor();
    await page.route('**/api/Article/export?*', (route) =>
      route.fulfill({ status: 403, json: { title: 'Access denied', status: 403, code: 'ACCESS_DENIED', detail: 'not today' } }),
    );
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByText('not today').waitFor();
    await dialog.getByText('No file was saved.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
  });
});
