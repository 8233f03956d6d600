import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it, startConsole } from './console.fixture.ts';

/** Sends requests without a token, each of which appends one entry. */
async function appendEntries(service: ConsoleService, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => service.call('GET', '/api/Article')));
}

/** Opens the live tail of list requests, and returns the page when the stream has begun. */
async function followLists(page: Page, service: ConsoleService): Promise<void> {
  await page.getByRole('switch', { name: 'Follow live' }).check({ force: true });
  await page.getByText('Waiting for the next entry').waitFor();
  // The stream begins with the entries after it has opened, and the page does not show when that is.
  const countAfterEntry = async (): Promise<number> => {
    await appendEntries(service, 1);
    return countRows(page);
  };
  await expect.poll(countAfterEntry, { interval: 500 }).toBeGreaterThan(0);
}

/** Returns the number of entries in the table, which renders only those in view. */
async function countRows(page: Page): Promise<number> {
  const table = page.getByRole('table', { name: 'Decisions' });
  return (await table.isVisible()) ? Number(await table.getAttribute('aria-rowcount')) : 0;
}

/** Returns the first number of a text of the page. */
async function numberIn(page: Page, text: RegExp): Promise<number> {
  const shown = (await page.getByText(text).textContent()) ?? '';
  return Number(shown.replaceAll(',', '').match(/\d+/)?.[0]);
}

describe('the live tail', () => {
  it('says that it connects again, and keeps and counts the entries that arrive while it is paused', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=1h&kind=access', { as: await newsroom.admin() });
    visitor.allow(/^request failed: GET .*\/decisions\/stream/);
    await page.route('**/decisions/stream?*', (route) => route.abort('connectionrefused'));
    await page.getByRole('switch', { name: 'Follow live' }).check({ force: true });
    await page.getByText('The connection was lost. It is being opened again').waitFor();
    await page.unroute('**/decisions/stream?*');
    await page.getByText('The connection was lost').waitFor({ state: 'detached' });
    await followLists(page, newsroom);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/new while paused/).waitFor();
    const before = await countRows(page);
    await appendEntries(newsroom, 3);
    // An entry that showed that the stream has begun may arrive late.
    await expect.poll(() => numberIn(page, /new while paused/)).toBeGreaterThanOrEqual(3);
    expect(await countRows(page)).toBe(before);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => countRows(page)).toBeGreaterThanOrEqual(before + 3);
  });

  it('shows the number of entries that the service left out, because the page did not keep up', async ({ visitor, onTestFinished }) => {
    // A poll delivers more entries at once than the queue of a reader holds.
    const service = await startConsole({ project: 'examples/newsroom', streams: { queue: { events: 10, characters: 100_000 } } });
    onTestFinished(() => service.close());
    const page = await visitor.open(service, '/decisions?range=1h&kind=access', { as: await service.admin(), isolated: true });
    await followLists(page, service);
    const before = await countRows(page);
    await appendEntries(service, 300);
    const countAll = async (): Promise<number> => (await countRows(page)) + (await numberIn(page, /entries were left out/));
    await page.getByText(/entries were left out/).waitFor();
    await expect.poll(countAll).toBeGreaterThanOrEqual(before + 300);
    expect(await countRows(page)).toBeLessThan(before + 300);
  });
});
