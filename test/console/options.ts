import type { Locator, Page } from 'playwright-core';

/**
 * Clicks an option of the open list, by its whole name or a pattern of it. The page does not scroll: a list is hidden as soon as its field is outside
 * of the window, and a click that waits for a moving option scrolls it to the edge of the window.
 */
export async function clickOption(page: Page | Locator, name: string | RegExp): Promise<void> {
  await page.getByRole('option', { name, exact: true }).filter({ visible: true }).first().click({ scroll: 'none' });
}
