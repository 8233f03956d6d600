import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it as base, type ConsoleService, startConsole, type Visitor } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url));

/** Writes the build with another name for each file of `assets/`, as a build of other sources has. */
function writeOtherBuild(folder: string): URL {
  cpSync(BUILT, folder, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
  const names = readdirSync(join(folder, 'assets'));
  const rename = (text: string): string => names.reduce((renamed, name) => renamed.replaceAll(name, `other-${name}`), text);
  for (const path of ['index.html', ...names.map((name) => `assets/${name}`)])
    writeFileSync(join(folder, path), rename(readFileSync(join(folder, path), 'utf8')));
  for (const name of names) renameSync(join(folder, 'assets', name), join(folder, 'assets', `other-${name}`));
  return pathToFileURL(`${folder}/`);
}

/** A test with a service that serves another build than `newsroom`. */
const it = base.extend('updated', { scope: 'file' }, async ({ project }, { onCleanup }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-console-'));
  const service = await startConsole({ project, consoleFolder: writeOtherBuild(folder) });
  onCleanup(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });
  return service;
});

/**
 * Lets the updated service answer the requests for the files of the console from now on, as after a restart with another build. A test ends with
 * `unrouteAll`, so that no request is answered while its page is closed.
 */
async function update(page: Page, [from, to]: readonly [from: ConsoleService, to: ConsoleService]): Promise<void> {
  await page.route(`${from.console}/**`, async (route) => {
    const response = await route.fetch({ url: route.request().url().replace(from.url, to.url) });
    await route.fulfill({ response });
  });
}

/** Allows the problems of a page whose files are gone. */
function allowMissingFiles(visitor: Visitor): void {
  visitor.allow(/^response 404: (GET|HEAD) \/console\/assets\//);
  visitor.allow(/^console error: (Refused to apply style|.*a part of the console could not be loaded)/);
}

describe('an update of the service', () => {
  it('a screen that is gone offers to reload, and the same address opens', async ({ newsroom, updated, visitor }) => {
    allowMissingFiles(visitor);
    const page = await visitor.open(newsroom, '/', { as: await newsroom.admin() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await update(page, [newsroom, updated]);
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByText('This part could not be loaded').waitFor();
    await page.getByRole('alert').getByText('The console was updated').waitFor();
    expect(page.url()).toBe(`${newsroom.console}/policies`);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Policies' }).waitFor();
    expect(page.url()).toBe(`${newsroom.console}/policies`);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('an unsaved draft stays when a part of its screen is gone, and a reload asks first', async ({ newsroom, updated, story, visitor }) => {
    allowMissingFiles(visitor);
    const page = await visitor.open(newsroom, `/policies/${story.policies.get('Embargo')}`, { as: story.admin });
    await page.getByRole('textbox', { name: 'Description' }).fill('not saved yet');
    await update(page, [newsroom, updated]);
    await page.getByRole('tab', { name: 'JSON / YAML' }).click();
    await page.getByText('This part could not be loaded').waitFor();
    const asked = page.waitForEvent('dialog').then((dialog) => dialog.dismiss());
    await page.getByRole('button', { name: 'Reload' }).click({ noWaitAfter: true });
    await asked;
    await page.getByRole('tab', { name: 'Rules' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('not saved yet');
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('a part that the service did not send is loaded by a retry or a reload', async ({ newsroom, story, visitor }) => {
    visitor.allow(/^request failed: GET \/console\/assets\//);
    visitor.allow(/^console error: .*a part of the console could not be loaded/);
    const page = await visitor.open(newsroom, `/policies/${story.policies.get('Embargo')}`, { as: story.admin });
    await page.getByRole('tab', { name: 'Rules' }).waitFor();
    await page.route('**/assets/PolicyTextEditor-*.js', (route) => route.abort('connectionrefused'), { times: 1 });
    await page.getByRole('tab', { name: 'JSON / YAML' }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    // Chromium 153 keeps a failed import until the page is loaded again; Chromium 156 does not.
    const reload = page.getByRole('button', { name: 'Reload the page' });
    const editor = page.locator('.cm-content');
    await editor.or(reload).first().waitFor();
    if (await reload.isVisible()) {
      await expectSoundScreen(page);
      await reload.click();
    }
    await editor.waitFor();
  });

  it('a page offers to reload when its user returns to it, and not again after "Later"', async ({ newsroom, updated, visitor }) => {
    allowMissingFiles(visitor);
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin() });
    await page.getByText('this session').waitFor();
    await update(page, [newsroom, updated]);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('alert').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Later' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('a page whose scripts are gone says so', async ({ newsroom, visitor }) => {
    visitor.allow(/^response 404: GET \/console\/assets\//);
    const page = await visitor.open(newsroom, '/account');
    await page.route('**/assets/index-*.js', (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await page.getByText('The console has not been loaded.').waitFor();
    await page.unroute('**/assets/index-*.js');
    await page.reload();
    await page.getByRole('heading').first().waitFor();
  });
});
