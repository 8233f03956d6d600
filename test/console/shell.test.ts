import { describe, expect } from 'vitest';
import { it, startConsole } from './console.fixture.ts';
import { WINDOW_SIZES } from './console-browser.ts';
import { expectInertText, expectSoundScreen, HOSTILE_TEXTS } from './screen-checks.ts';

describe('the shell', () => {
  it('an unknown address shows a page that leads to the overview', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/nothing/here', { as: await newsroom.admin() });
    await page.getByText('This page does not exist').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('a user who is no admin sees only the screens of users, and the reason on any other', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/policies', { as: await newsroom.user() });
    await page.getByText('This screen is for admins').waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links).toEqual(['Records']);
    await expectSoundScreen(page);
  });

  it('a skeleton takes the place of a screen whose code is being loaded', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), isolated: true });
    await page.getByText('this session').waitFor();
    const { promise: isSeen, resolve: see } = Promise.withResolvers<void>();
    await page.route('**/assets/RolesScreen-*.js', async (route) => {
      await isSeen;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await page.getByText('this session').count()).toBe(0);
    see();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('the palette opens a screen with the keyboard alone', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: await newsroom.admin() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).waitFor();
    await page.keyboard.type('your acc');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it('a slash goes to the search field of a screen, and opens the palette on a screen without one', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/users', { as: await newsroom.admin() });
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.locator('[data-search]').waitFor();
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.matches("[data-search]")')).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: 'Search screens and actions' }).inputValue()).toBe('');
  });

  it('the palette finds a resource, a user, a policy and an action', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    await page.getByText('this session').waitFor();
    for (const [typed, label] of [
      ['artic', 'Article'],
      ['okafor', 'Tom Okafor'],
      ['embar', 'Embargo'],
      ['new pol', 'New policy'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('textbox', { name: 'Search screens and actions' }).fill(typed);
      const action = page.getByRole('dialog').getByRole('button').filter({ hasText: label }).first();
      await action.waitFor();
      // The palette looks alike for the other texts.
      if (typed === 'artic') await expectSoundScreen(page);
      await action.click();
      await page.getByRole('heading', { name: label, level: 1 }).waitFor();
    }
  });

  it('the palette leads to the list of all users that match if it does not show all of them', async ({ newsroom, visitor }) => {
    for (let number = 1; number <= 6; number++) await newsroom.user({ name: `Palette ${number}` });
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin() });
    await page.getByText('this session').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).fill('palette');
    await page.getByRole('dialog').getByRole('button').filter({ hasText: 'All users with "palette"' }).click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('table', { name: 'Users' }).locator('tbody tr').count()).toBe(6);
  });

  it('the palette changes the colours', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), isolated: true });
    await page.getByText('this session').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).fill('dark');
    await page.getByRole('dialog').getByRole('button').filter({ hasText: 'Colours: Dark' }).click();
    await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark');
  });

  it('the question mark lists the keys, and Escape returns the focus', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: await newsroom.admin() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Keyboard' }).focus();
    await page.keyboard.press('Shift+?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await expectSoundScreen(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Keyboard');
  });

  it('the keys of one character can be turned off, and stay off after a reload', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/policies', { as: await newsroom.admin(), isolated: true });
    await page.getByRole('button', { name: 'Keyboard' }).click();
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.getByRole('switch', { name: /^Keys of one character/ }).uncheck({ force: true });
    await expectSoundScreen(page);
    await page.reload();
    await page.getByRole('button', { name: 'Keyboard' }).focus();
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+?');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Keyboard');
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search screens and actions' }).waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('the reason of a refused button stays while the pointer is on it, and Escape hides it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('final-in-the-rain')}`, { as: story.maya });
    visitor.allow(/^response 403: GET \/api\/User\//);
    const remove = page.getByRole('button', { name: 'Delete' });
    await expect.poll(() => remove.getAttribute('aria-disabled')).toBe('true');
    await remove.hover();
    const reason = page.getByRole('tooltip').filter({ visible: true });
    await reason.waitFor();
    const [button, hint] = await Promise.all([remove.boundingBox(), reason.boundingBox()]);
    if (button === null || hint === null) throw new Error('expected a button and its reason');
    const x = Math.max(button.x, hint.x) + 5;
    // Each pixel on the way, also those between the button and the reason.
    await page.mouse.move(x, button.y + button.height - 2);
    await page.mouse.move(x, hint.y + hint.height / 2, { steps: 40 });
    expect(await reason.count()).toBe(1);
    await page.keyboard.press('Escape');
    await reason.waitFor({ state: 'detached' });
    await page.mouse.move(x, button.y + button.height / 2);
    await reason.waitFor();
    await page.mouse.move(2, 2);
    await reason.waitFor({ state: 'detached' });
  });

  it('the first key of a page skips the navigation', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: await newsroom.admin() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
  });

  it('a phone has buttons for the palette and the list of keys', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), size: 'phone' });
    await page.getByRole('button', { name: 'Search screens and actions' }).click();
    await page.getByRole('textbox', { name: 'Search screens and actions' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Keyboard' }).click();
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });

  it('a phone shows the navigation as a menu, which closes when a screen opens', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin(), size: 'phone' });
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Overview' }).isVisible()).toBe(false);
  });

  it('the chosen colour scheme stays after a reload', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: await newsroom.admin(), isolated: true });
    await page.getByRole('button', { name: 'Admin' }).click();
    await page.getByText('Dark', { exact: true }).click();
    const scheme = 'document.documentElement.dataset.mantineColorScheme';
    await expect.poll(() => page.evaluate(scheme)).toBe('dark');
    await page.reload();
    await expect.poll(() => page.evaluate(scheme)).toBe('dark');
  });

  it('a service that does not answer is named, and retrying continues', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: await newsroom.admin() });
    await page.getByText('this session').waitFor();
    visitor.allow(/^request failed: POST \/auth\/session\/refresh/);
    await page.route('**/auth/session/refresh', (route) => route.abort('connectionrefused'));
    await page.reload();
    await page.getByRole('alert').waitFor();
    await expectSoundScreen(page);
    await page.unroute('**/auth/session/refresh');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('this session').waitFor();
  });

  it('a long name of the user stays in the window, also in a narrow one', async ({ newsroom, visitor }) => {
    const name = 'Augusta Ada King, Countess of Lovelace';
    const user = await newsroom.user({ role: 'admin', name });
    const page = await visitor.open(newsroom, '/roles', { as: user });
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    for (const width of [320, 375]) {
      await page.setViewportSize({ width, height: 800 });
      const { x, width: own } = (await page.getByRole('button', { name }).boundingBox()) ?? { x: width, width: 0 };
      expect(x + own).toBeLessThanOrEqual(width);
    }
  });

  it('a name of the user that looks like markup or is long is shown as text, on a desktop and a phone', async ({ newsroom, visitor }) => {
    const { token } = await newsroom.admin();
    const user = await newsroom.user();
    const page = await visitor.open(newsroom, '/account', { as: user });
    // Names that look like markup are also in lists and forms, which other tests open.
    for (const name of [HOSTILE_TEXTS[0] ?? '', HOSTILE_TEXTS.at(-1) ?? '']) {
      expect(await newsroom.call('PUT', `/api/User/${user.id}`, { token, body: { name } })).toMatchObject({ status: 200 });
      await page.reload();
      for (const size of Object.values(WINDOW_SIZES)) {
        await page.setViewportSize(size);
        await expectInertText(page, name);
      }
    }
  });
});

describe('setup', () => {
  it('a new service asks for the first admin, who is created with the keyboard alone', async ({ visitor, onTestFinished }) => {
    const service = await startConsole({ project: 'examples/newsroom' });
    onTestFinished(() => service.close());
    const page = await visitor.open(service, '/');
    await page.getByRole('heading', { name: 'Welcome to Bailiwick' }).waitFor();
    await expectSoundScreen(page);
    await page.getByLabel('Name').focus();
    for (const text of ['Ada', 'ada@example.com', 'correct horse battery']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.getByLabel(/^Password/).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Ada' }).waitFor();
  });

  it('a setup link contains the token that the service requires, and a refused password is marked at its field', async ({
    visitor,
    onTestFinished,
  }) => {
    const service = await startConsole({ project: 'examples/newsroom', settings: { setup: 'token' } });
    onTestFinished(() => service.close());
    const token = await service.openSetup();
    const page = await visitor.open(service, `/setup#token=${token}`);
    await page.getByLabel('Setup token').waitFor();
    await expect.poll(() => page.getByLabel('Setup token').inputValue()).toBe(token);
    visitor.allow(/^response 422: POST/);
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel(/^Password/).fill('password1');
    await page.getByRole('button', { name: 'Create the admin' }).click();
    const mistake = page.getByRole('alert').filter({ hasText: 'This password is among the most common ones.' });
    await mistake.waitFor();
    await expect.poll(() => page.getByLabel(/^Password/).getAttribute('aria-invalid')).toBe('true');
    await expectSoundScreen(page);
  });

  it('a service with an admin refuses a second setup', async ({ newsroom, visitor }) => {
    await newsroom.admin();
    const page = await visitor.open(newsroom, '/setup');
    await page.getByText('This service has an admin already.').waitFor();
    await expectSoundScreen(page);
  });
});
