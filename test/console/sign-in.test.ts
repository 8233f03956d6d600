import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { TestUser } from '../harness.ts';
import { it, startConsole } from './console.fixture.ts';
import { trackRequests, waitForData } from './page-requests.ts';
import { expectSoundScreen } from './screen-checks.ts';

async function signIn(page: Page, { email, password }: Pick<TestUser, 'email' | 'password'>): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Admin' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

function signInForm(page: Page): Promise<void> {
  return page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

describe('signing in', () => {
  it('the sign-in screen is accessible and fits a phone', async ({ newsroom, visitor }) => {
    await newsroom.admin();
    const page = await visitor.open(newsroom, '/sign-in');
    await signInForm(page);
    await expectSoundScreen(page);
  });

  it('signing in opens the address that required it, with its parameters', async ({ newsroom, visitor }) => {
    const admin = await newsroom.admin();
    const page = await visitor.open(newsroom, '/account?x=1');
    await signInForm(page);
    await signIn(page, admin);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/account');
  });

  it('a wrong password is refused with the reason of the service, and the e-mail stays', async ({ newsroom, visitor }) => {
    const { email } = await newsroom.admin();
    const page = await visitor.open(newsroom, '/sign-in');
    visitor.allow(/^response 401: POST \/auth\/session$/);
    await signIn(page, { email, password: 'wrong horse battery' });
    const alert = page.getByRole('alert');
    await alert.waitFor();
    await expect.poll(() => alert.textContent()).toContain('IDENTITY_CREDENTIALS');
    await expect.poll(() => page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe(email);
    await expectSoundScreen(page);
  });

  it('signing in never opens an address outside the console', async ({ newsroom, visitor }) => {
    const admin = await newsroom.admin();
    const page = await visitor.open(newsroom, `/sign-in?back=${encodeURIComponent('//attacker.example/')}`);
    await signIn(page, admin);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${newsroom.console}/`);
  });
});

describe('a session', () => {
  it('a session goes on after a reload, and ends after signing out', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), isolated: true });
    await page.getByText('this session').waitFor();
    await page.reload();
    await page.getByText('this session').waitFor();
    await signOut(page);
    await signInForm(page);
    await page.reload();
    await signInForm(page);
  });

  it('two tabs share a session, and signing out in one ends it in the other', async ({ newsroom, visitor }) => {
    const first = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), isolated: true });
    const second = await first.context().newPage();
    trackRequests(second);
    await Promise.all([first.reload(), second.goto(`${newsroom.console}/account`)]);
    await Promise.all([first, second].map((page) => page.getByText('this session').waitFor()));
    await waitForData(second);
    await signOut(first);
    await Promise.all([first, second].map(signInForm));
    expect(await second.getByText('Your session has ended').count()).toBe(0);
  });

  it('a session that an admin ends returns to the sign-in screen, and then to where it was', async ({ newsroom, visitor }) => {
    const reader = await newsroom.user();
    const page = await visitor.open(newsroom, '/account', { as: reader, isolated: true });
    await page.getByText('this session').waitFor();
    // A request that is answered after the session has ended would open the sign-in screen before the button is pressed.
    await waitForData(page);
    const { token } = await newsroom.admin();
    const { status } = await newsroom.call('DELETE', `/admin/api/users/${reader.id}/sessions`, { token });
    expect(status).toBe(200);
    visitor.allow(/^response 401/);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, reader);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('an access token that is about to expire is refreshed before the next request', async ({ visitor, onTestFinished }) => {
    const service = await startConsole({ project: 'examples/newsroom', settings: { accessTokenSeconds: 30 } });
    onTestFinished(() => service.close());
    const page = await visitor.open(service, '/', { as: await service.admin(), isolated: true });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const refreshed = page.waitForResponse((response) => response.url().endsWith('/auth/session/refresh'));
    await page.getByRole('button', { name: 'Admin' }).click();
    await page.getByRole('link', { name: 'Your account' }).click();
    expect((await refreshed).status()).toBe(200);
    await page.getByText('this session').waitFor();
  });

  it('a session of another device is ended with its button', async ({ newsroom, visitor }) => {
    const reader = await newsroom.user();
    const other = await visitor.open(newsroom, '/account', { as: reader, isolated: true });
    await other.getByText('this session').waitFor();
    const page = await visitor.open(newsroom, '/account', { as: reader, isolated: true });
    // The third session is the one of the API.
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await expectSoundScreen(page);
    visitor.allow(/^response 401/);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByText('All other sessions have ended.').waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await other.reload();
    await signInForm(other);
  });
});
