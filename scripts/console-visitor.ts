/** A new user of the console in a browser: creates the first admin, and looks at a decision. */
import type { Browser, Page } from 'playwright-core';
import { findBrowser } from '../test/console/chromium.ts';
import { startPlainBrowser } from '../test/console/console-browser.ts';

/** The first admin of a service. */
export interface Admin {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Starts the browser of this machine, or else that of the packages for tests. @throws Error if there is none */
export async function startVisitor(): Promise<Browser> {
  const program = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}` });
  if (program === undefined) throw new Error('no Chromium or Chrome was found: set BAILIWICK_BROWSER to the path of one');
  return startPlainBrowser(program);
}

/** Opens the link that the service prints at its start, and creates the first admin, who is then signed in. */
export async function createAdminInConsole(browser: Browser, link: string, { name, email, password }: Admin): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email').fill(email);
  await page.locator('input[type="password"]').fill(password);
  await page.getByRole('button', { name: 'Create the admin' }).click();
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
  return page;
}

/** Opens the screen of a denial. Returns its reason when the screen also shows the rule that decided. */
export async function readExplanation(page: Page, address: string): Promise<string> {
  await page.goto(address);
  await page.getByText('decided', { exact: true }).first().waitFor();
  return (
    (await page
      .getByText(/^denied by /)
      .first()
      .textContent()) ?? ''
  );
}
