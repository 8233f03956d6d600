/**
 * Writes a PNG of each screen of the console, with the data of the newsroom example, in light and dark, for a desktop and a phone:
 * `npm run console:screenshots -- FOLDER [SCREEN…]`.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { findBrowser } from '../test/console/chromium.ts';
import { createContext, startBrowser, WINDOW_SIZES } from '../test/console/console-browser.ts';
import { fillNewsroom, type Story } from '../test/console/newsroom-story.ts';
import { startService } from '../test/harness.ts';

/** The address of a screen below `/console`, and the actions that show what its picture is for. */
interface Screen {
  readonly path: (story: Story) => string;
  readonly isSignedOut?: boolean;
  show?(page: Page): Promise<unknown>;
}

const SCREENS: Readonly<Record<string, Screen>> = {
  'sign-in': { path: () => '/sign-in', isSignedOut: true },
  overview: { path: () => '/' },
  account: { path: () => '/account' },
  decisions: { path: () => '/decisions?range=24h' },
  decision: {
    path: () => '/decisions?range=24h&allowed=false',
    show: (page) => page.getByRole('row').nth(2).click(),
  },
  policies: { path: () => '/policies' },
  policy: { path: ({ policies }) => `/policies/${policies.get('Editors: their department')}` },
  'policy-text': { path: ({ policies }) => `/policies/${policies.get('Editors: their department')}?tab=text` },
  assignments: { path: () => '/assignments' },
  simulator: {
    path: ({ tom, articles }) => `/simulator?user=${tom.id}&resource=Article&action=update&id=${articles.get('a-budget-at-last')}`,
  },
  access: { path: () => '/access' },
  findings: { path: () => '/findings' },
  records: { path: () => '/data/Article' },
  record: { path: ({ articles }) => `/data/Article/${articles.get('a-budget-at-last')}` },
  users: { path: () => '/users' },
  user: { path: ({ maya }) => `/users/${maya.id}` },
  storage: { path: () => '/storage' },
  system: { path: () => '/system' },
};

const [folder, ...chosen] = process.argv.slice(2);
if (folder === undefined) throw new Error('give the folder of the pictures: npm run console:screenshots -- FOLDER');
mkdirSync(folder, { recursive: true });
await writeScreenshots(resolve(folder), chosen.length > 0 ? chosen : Object.keys(SCREENS));

async function writeScreenshots(target: string, names: readonly string[]): Promise<void> {
  const program = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}` });
  if (program === undefined) throw new Error('no Chromium or Chrome was found: set BAILIWICK_BROWSER to the path of one');
  const service = await startService({ project: 'examples/newsroom' });
  const browser = await startBrowser(program);
  try {
    const story = await fillNewsroom(service);
    await story.work();
    for (const size of Object.keys(WINDOW_SIZES) as (keyof typeof WINDOW_SIZES)[])
      for (const scheme of ['light', 'dark'] as const)
        for (const name of names) {
          const screen = SCREENS[name];
          if (screen === undefined) throw new Error(`there is no screen "${name}": choose from ${Object.keys(SCREENS).join(', ')}`);
          const context = await createContext(browser, service, { size, scheme, ...(screen.isSignedOut !== true && { as: story.admin }) });
          const page = await context.newPage();
          await page.goto(`${service.url}/console${screen.path(story)}`);
          await settle(page);
          await screen.show?.(page).then(() => settle(page));
          await page.screenshot({ path: join(target, `${name}-${size}-${scheme}.png`), animations: 'disabled' });
          await context.close();
        }
  } finally {
    await browser.close();
    await service.close();
  }
}

/** Waits until the page has loaded its data: no request for half a second, and no skeleton. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  // The first of those that are left, until none is.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}
