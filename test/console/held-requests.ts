/** Requests of a page whose answers a test delays. */
import type { Page, Route } from 'playwright-core';
import { expect } from 'vitest';

/** A request that waits for its answer. */
export interface HeldRequest {
  /** Waits until the page has sent it. */
  sent(): Promise<void>;
  refuse(): Promise<void>;
  pass(): Promise<void>;
}

/** Holds the requests of a page with one method and path, so that a test answers them later. */
export async function hold(page: Page, method: string, path: string): Promise<HeldRequest> {
  const held: Route[] = [];
  await page.route(path, async (route, request) => {
    if (request.method() === method) held.push(route);
    else await route.continue();
  });
  const end = async (answer: (route: Route) => Promise<void>): Promise<void> => {
    await Promise.all(held.splice(0).map(answer));
  };
  return {
    sent: () => expect.poll(() => held.length).toBe(1),
    refuse: () =>
      end((route) => route.fulfill({ status: 503, json: { title: 'Not available', status: 503, code: 'STORAGE_UNAVAILABLE' } })),
    pass: () => end((route) => route.continue()),
  };
}
