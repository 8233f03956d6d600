/**
 * Writes a PNG of each screen of the console, with the data of the newsroom example, in light and dark, for a desktop and a phone:
 * `npm run console:screenshots -- FOLDER [SCREEN…]`. `npm run console:screenshots -- --guide [SCREEN…]` writes the pictures of the guide.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { findBrowser } from '../test/console/chromium.ts';
import { createContext, startBrowser, WINDOW_SIZES } from '../test/console/console-browser.ts';
import { fillNewsroom, type Story } from '../test/console/newsroom-story.ts';
import { startService } from '../test/harness.ts';

/** The address of a screen below `/console`, and the actions that show what its picture is for. */
interface Screen {
  readonly path: (story: Story) => string;
  readonly isSignedOut?: boolean;
  show?(page: Page, story: Story): Promise<unknown>;
}

const SCREENS: Readonly<Record<string, Screen>> = {
  'sign-in': { path: () => '/sign-in', isSignedOut: true },
  overview: { path: () => '/' },
  account: { path: () => '/account' },
  decisions: { path: () => '/decisions?range=24h' },
  decision: {
    path: ({ tom }) => `/decisions?range=24h&allowed=false&userId=${tom.id}&action=update`,
    show: (page) => page.getByRole('row').filter({ hasText: 'denied' }).first().click(),
  },
  policies: { path: () => '/policies' },
  policy: { path: ({ policies }) => `/policies/${policies.get('Editors: their department')}` },
  'policy-text': { path: ({ policies }) => `/policies/${policies.get('Editors: their department')}?tab=text` },
  'condition-builder': { path: ({ policies }) => `/policies/${policies.get('Tips: senior editors on weekdays')}?at=rules.0` },
  preview: { path: () => '/preview', show: replayDraft },
  assignments: { path: () => '/assignments' },
  simulator: {
    path: ({ tom, articles }) => `/simulator?user=${tom.id}&resource=Article&action=update&id=${articles.get('a-budget-at-last')}`,
  },
  access: { path: () => '/access' },
  findings: { path: () => '/findings' },
  records: { path: () => '/data/Article' },
  'records-change': { path: () => '/data/Article', show: changeRecords },
  record: { path: ({ articles }) => `/data/Article/${articles.get('a-budget-at-last')}` },
  'record-conflict': { path: ({ articles }) => `/data/Article/${articles.get('a-budget-at-last')}`, show: saveTooLate },
  users: { path: () => '/users' },
  user: { path: ({ maya }) => `/users/${maya.id}` },
  roles: { path: () => '/roles' },
  storage: { path: () => '/storage' },
  system: { path: () => '/system' },
};

/** The screens of the guide, each with a picture in light and in dark for a desktop. */
const GUIDE = [
  ...['overview', 'policies', 'condition-builder', 'preview', 'simulator', 'decisions', 'decision', 'access'],
  ...['records', 'records-change', 'record', 'record-conflict'],
];
const GUIDE_FOLDER = fileURLToPath(new URL('../docs/guides/images', import.meta.url));

/** Quality of the pictures of the guide, in percent. */
const QUALITY = 75;

interface Job {
  readonly folder: string;
  readonly names: readonly string[];
  readonly sizes: readonly (keyof typeof WINDOW_SIZES)[];
  save(page: Page, name: string, look: Look): Promise<void>;
}

/** The window and the colours of a picture. */
interface Look {
  readonly size: keyof typeof WINDOW_SIZES;
  readonly scheme: 'light' | 'dark';
}

const [target, ...chosen] = process.argv.slice(2);
if (target === undefined) throw new Error('give the folder of the pictures: npm run console:screenshots -- FOLDER');
await writeScreenshots(target === '--guide' ? guideJob() : folderJob(resolve(target)));

/** WebP, because a picture of the guide has a third of the size of a PNG, and Git keeps every version of it. */
function guideJob(): Job {
  return {
    folder: GUIDE_FOLDER,
    names: chosen.length > 0 ? chosen : GUIDE,
    sizes: ['desktop'],
    async save(page, name, { scheme }) {
      const session = await page.context().newCDPSession(page);
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      writeFileSync(join(GUIDE_FOLDER, `console-${name}-${scheme}.webp`), Buffer.from(data, 'base64'));
    },
  };
}

function folderJob(folder: string): Job {
  return {
    folder,
    names: chosen.length > 0 ? chosen : Object.keys(SCREENS),
    sizes: Object.keys(WINDOW_SIZES) as (keyof typeof WINDOW_SIZES)[],
    async save(page, name, { size, scheme }) {
      await page.screenshot({ path: join(folder, `${name}-${size}-${scheme}.png`), animations: 'disabled' });
    },
  };
}

async function writeScreenshots(job: Job): Promise<void> {
  mkdirSync(job.folder, { recursive: true });
  const program = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}` });
  if (program === undefined) throw new Error('no Chromium or Chrome was found: set BAILIWICK_BROWSER to the path of one');
  const service = await startService({ project: 'examples/newsroom' });
  const browser = await startBrowser(program);
  try {
    const story = await fillNewsroom(service);
    await story.work();
    for (const size of job.sizes)
      for (const scheme of ['light', 'dark'] as const)
        for (const name of job.names) {
          const screen = SCREENS[name];
          if (screen === undefined) throw new Error(`there is no screen "${name}": choose from ${Object.keys(SCREENS).join(', ')}`);
          const context = await createContext(browser, service, { size, scheme, ...(screen.isSignedOut !== true && { as: story.admin }) });
          const page = await context.newPage();
          await page.goto(`${service.url}/console${screen.path(story)}`);
          await settle(page);
          await screen.show?.(page, story).then(() => settle(page));
          await job.save(page, name, { size, scheme });
          await context.close();
        }
  } finally {
    await browser.close();
    await service.close();
  }
}

/** Replays the audit log under a draft that changes some decisions. */
async function replayDraft(page: Page, { policies }: Story): Promise<void> {
  const conditions = [{ field: 'resource.department', operator: 'eq', value: 'sports' }];
  const rules = ['list', 'read', 'update'].map((action) => ({ resource: 'Article', action, conditions }));
  const draft = { policies: [{ id: policies.get('Editors: their department'), rules }] };
  await page.getByLabel('Draft (JSON)').fill(JSON.stringify(draft));
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('button', { name: 'Show both traces' }).first().waitFor();
}

/** Selects two records, and begins to change a field of both. */
async function changeRecords(page: Page): Promise<void> {
  for (const number of [0, 1]) await page.getByRole('checkbox').nth(number).check();
  await page.getByRole('button', { name: 'Change a field' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Field' }).selectOption('fee');
  await dialog.getByRole('textbox', { name: 'fee' }).fill('120.00');
}

/** Saves a record that another user has changed since it was opened. */
async function saveTooLate(page: Page, { admin }: Story): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  const store = async (data: object): Promise<unknown> =>
    page.request.put(`${origin}${pathname.replace('/console/data', '/api')}`, {
      headers: { authorization: `Bearer ${admin.token}` },
      data,
    });
  // The same picture in the other colour scheme has stored a fee.
  await store({ fee: null });
  await page.reload();
  await page.getByRole('textbox', { name: 'title', exact: true }).fill('Council agrees on a budget');
  await page.getByRole('textbox', { name: 'fee', exact: true }).fill('150.00');
  await store({ fee: '180.00' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'This record was changed meanwhile' }).waitFor();
}

/** Waits until the page has loaded its data: no request for half a second, and no skeleton. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  // The first of those that are left, until none is.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}
