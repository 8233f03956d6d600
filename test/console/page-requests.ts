import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';

/** The requests of a page that have no response yet. */
const open = new WeakMap<Page, Set<Request>>();

/** Follows the requests of a page, for `waitForData`. Call it before the page opens an address. */
export function trackRequests(page: Page): void {
  const requests = new Set<Request>();
  open.set(page, requests);
  page.on('request', (request) => requests.add(request));
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => requests.delete(request));
}

/** Returns the number of skeletons after the present data are rendered: what a response changes, the page renders before its second frame. */
const COUNT_SKELETONS = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  .then(() => document.querySelectorAll('[aria-busy="true"]').length)`;

/** Waits until a page has loaded its data: it shows no skeleton, and every request has a response. */
export async function waitForData(page: Page): Promise<void> {
  const pending = async (): Promise<object> => {
    const skeletons = await page.evaluate<number>(COUNT_SKELETONS);
    return { skeletons, requests: [...(open.get(page) ?? [])].map((request) => request.url()) };
  };
  await expect.poll(pending, { message: `requests and skeletons of ${page.url()}` }).toEqual({ skeletons: 0, requests: [] });
}
