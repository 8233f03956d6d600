/** Menus, suggestions and dialogs: what axe finds while they are open, the keyboard in them, and the focus after them. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it as register } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { findAccessibilityFaults } from './screen-checks.ts';

/** With a saved view of the admin. */
const it = register.extend('view', { scope: 'file' }, async ({ newsroom, story }): Promise<string> => {
  const options = { token: story.admin.token, body: { screen: 'decisions', query: { range: '1h' } } };
  const saved = await newsroom.call('PUT', '/auth/me/views?name=At%20night', options);
  expect(saved.status).toBe(201);
  return 'At night';
});

interface OpenMenu {
  readonly path: (story: Story) => string;
  /** Opens the menu. */
  open(page: Page): Promise<void>;
  readonly actions: readonly string[];
}

const focusedText = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent');

const MENUS: Readonly<Record<string, OpenMenu>> = {
  'saved views': {
    path: () => '/decisions?range=24h',
    open: (page) => page.getByRole('button', { name: 'Saved views' }).click(),
    actions: ['At night', '✕', 'Save this view'],
  },
  'the values of a cell': {
    path: () => '/decisions?range=24h&resource=Tip&action=list',
    async open(page) {
      await page.getByRole('table', { name: 'Decisions' }).getByText('Tip').first().hover();
      await page.getByRole('button', { name: 'Filter by the values of Request' }).click();
    },
    actions: ['Show only Action list', 'Exclude Action list', 'Show only Resource Tip', 'Exclude Resource Tip'],
  },
  'an export of records': {
    path: () => '/data/Article',
    open: (page) => page.getByRole('button', { name: 'Export' }).click(),
    actions: ['CSV', 'NDJSON', 'JSON'],
  },
  'a condition of a rule': {
    path: ({ policies }) => `/policies/${policies.get('Tips: senior editors on weekdays')}?at=rules.0`,
    open: (page) => page.getByRole('button', { name: 'More actions' }).first().click(),
    actions: ['Negate', 'Put into a group', 'A missing value makes it false', 'Move up', 'Move down', 'Remove'],
  },
};

describe('an open menu', () => {
  it.for(Object.entries(MENUS))(
    'the menu of %s is accessible in light and dark',
    async ([, menuOf], { newsroom, story, view: _, visitor }) => {
      const { path, open, actions } = menuOf;
      const page = await visitor.open(newsroom, path(story), { as: story.admin });
      await open(page);
      const menu = page.getByRole('menu');
      await expect.poll(() => menu.getByRole('menuitem').allTextContents()).toEqual(actions);
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        expect(await findAccessibilityFaults(page, scheme === 'dark' ? 'colours' : 'all'), scheme).toEqual([]);
      }
      expect(await menu.isVisible()).toBe(true);
    },
  );

  it('the keys move between its actions, and closing it returns the focus', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    const button = page.getByRole('button', { name: 'Export' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focusedText(page)).toBe('CSV');
    for (const [key, focused] of [
      ['ArrowDown', 'NDJSON'],
      ['End', 'JSON'],
      ['ArrowDown', 'CSV'],
      ['ArrowUp', 'JSON'],
      ['Home', 'CSV'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => focusedText(page), { message: key }).toBe(focused);
    }
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('menu').count()).toBe(0);
    await expect.poll(() => focusedText(page)).toBe('Export');
    await button.click();
    await page.getByRole('menu').waitFor();
    await page.getByRole('heading', { name: 'Article', level: 1 }).click();
    await expect.poll(() => page.getByRole('menu').count()).toBe(0);
  });
});

describe('the suggestions of a field', () => {
  it('typing filters them, the arrow keys choose one, and they are accessible', async ({ newsroom, story, visitor }) => {
    const { policies } = story;
    const path = `/policies/${policies.get('Tips: senior editors on weekdays')}?at=rules.0`;
    const page = await visitor.open(newsroom, path, { as: story.admin });
    const field = page.getByRole('combobox', { name: 'Path' }).first();
    const options = page.getByRole('option').filter({ visible: true });
    await field.click();
    await options.first().waitFor();
    expect(await options.count()).toBeGreaterThan(10);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await findAccessibilityFaults(page, scheme === 'dark' ? 'colours' : 'all'), scheme).toEqual([]);
    }
    await field.fill('user.start');
    await expect.poll(() => options.allTextContents()).toEqual(['user.startedOn']);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => options.first().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await expect.poll(() => options.count()).toBe(0);
    await expect.poll(() => field.inputValue()).toBe('user.startedOn');
    await page.keyboard.press('ArrowDown');
    await options.first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => options.count()).toBe(0);
  });
});

describe('Escape in a dialog', () => {
  it('hides the reason of a refused button first, and then closes the dialog', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/data/Article', { as: story.admin });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Import', exact: true }).focus();
    const reason = page.getByRole('tooltip').filter({ visible: true });
    await reason.waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => reason.count()).toBe(0);
    expect(await dialog.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.count()).toBe(0);
  });
});

describe('a closed dialog', () => {
  it('the button that opened a dialog has the focus again', async ({ newsroom, story, visitor }) => {
    const { policies } = story;
    const path = `/policies/${policies.get('Tips: senior editors on weekdays')}?tab=assignments`;
    const page = await visitor.open(newsroom, path, { as: story.admin });
    const button = page.getByRole('button', { name: 'Revoke the assignment to Maya Lindqvist' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
    await expect.poll(focused).toBe('Revoke the assignment to Maya Lindqvist');
  });
});
