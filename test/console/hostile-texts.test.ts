import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it as register } from './console.fixture.ts';
import { waitForData } from './page-requests.ts';
import { expectInertText, expectSoundScreen, HOSTILE_TEXTS } from './screen-checks.ts';

/** The user and the audit entry of a request that a policy with a hostile text decides. */
interface Planted {
  readonly userId: string;
  readonly entryId: string;
}

/** Gives records, users and policies hostile texts, and sends a request that one of these policies decides. */
async function plant(service: ConsoleService): Promise<Planted> {
  let planter: { readonly id: string; readonly token: string } = await service.admin();
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    planter = await service.user({ name: text, role: 'editor' });
    // The policy with the lowest number decides.
    const rule = { resource: 'Article', action: 'list', priority: 900 - index, description: text };
    await service.createPolicy({ name: text, role: 'editor', rules: [rule] });
    await service.createRecord('Article', {
      title: text,
      slug: `hostile-${index}`,
      authorId: planter.id,
      body: text,
      tags: [text.slice(0, 20)],
    });
  }
  const reply = await service.call('GET', '/api/Article', { token: planter.token });
  return { userId: planter.id, entryId: String(reply.headers['x-decision-id']) };
}

const it = register.extend('planted', { scope: 'file' }, ({ newsroom }): Promise<Planted> => plant(newsroom));

describe('hostile texts', () => {
  it.for(['/data/Article', '/users'])(
    'texts that look like markup are shown as texts at %s',
    async (path, { newsroom, planted: _, visitor }) => {
      const page = await visitor.open(newsroom, path, { as: await newsroom.admin() });
      await waitForData(page);
      for (const text of HOSTILE_TEXTS) await expectInertText(page, text);
      await expectSoundScreen(page);
    },
  );

  it('decisions and their explanation show hostile names of policies, rules and users as texts', async ({ newsroom, planted, visitor }) => {
    const { userId, entryId } = planted;
    const page = await visitor.open(newsroom, `/decisions?range=1h&userId=${userId}`, { as: await newsroom.admin() });
    await expectInertText(page, HOSTILE_TEXTS.at(-1) ?? '');
    await expectInertText(page, HOSTILE_TEXTS[0] ?? '');
    await expectSoundScreen(page);
    await page.goto(`${newsroom.console}/decisions/${entryId}`);
    await expectInertText(page, HOSTILE_TEXTS[0] ?? '');
    await expectSoundScreen(page);
  });

  it.for(['\u202Eevil', 'evil\u2069\u202E'])(
    'a name does not change the order of the other words of a sentence: %s',
    async (name, { newsroom, planted: _, visitor }) => {
      const id = await newsroom.createPolicy({ name, rules: [{ resource: 'Tip', action: 'read', description: name }] });
      const page = await visitor.open(newsroom, `/policies/${id}`, { as: await newsroom.admin() });
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog').getByText('Type').waitFor();
      const words = [
        ['evil', '?'],
        ['evil', 'to'],
        ['to', 'confirm'],
      ] as const;
      for (const pair of words) expect(await isBefore(page, pair), pair.join(' ')).toBe(true);
    },
  );
  it('the reason of a decision isolates the names in it, at a record, in the log and in a replay', async ({ newsroom, story, visitor }) => {
    const name = '\u202Eevil reason';
    await newsroom.createPolicy({
      name,
      role: 'editor',
      rules: [{ resource: 'Article', action: 'delete', effect: 'DENY', description: name }],
    });
    const isolated = (text: string | null): boolean => !(text ?? '').replaceAll(`\u2068${name}\u2069`, '').includes('\u202E');
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('a-budget-at-last')}`, { as: story.maya });
    visitor.allow(/^response 403: GET \/api\/User\//);
    const reason = page.locator('p').filter({ hasText: 'evil' }).first();
    expect(isolated(await reason.textContent())).toBe(true);
    expect(isolated(await page.getByRole('tooltip', { includeHidden: true }).textContent())).toBe(true);
    const path = `/api/Article/${story.articles.get('a-budget-at-last')}`;
    const denied = await newsroom.call('DELETE', path, { token: await newsroom.logIn(story.maya.email, story.maya.password) });
    const entry = await visitor.open(newsroom, `/decisions/${denied.headers['x-decision-id']}`, { as: story.admin });
    expect(isolated(await entry.locator('p').filter({ hasText: 'evil' }).first().textContent())).toBe(true);
    await entry.getByRole('button', { name: 'Decide again under the present policies' }).click();
    const replay = entry.getByRole('alert').filter({ hasText: 'Present policies decide the same.' });
    await replay.waitFor();
    expect(isolated(await replay.textContent())).toBe(true);
  });
});

/** Returns true if the first element of a dialog with both words shows the one left of the other, or above it. */
function isBefore(page: Page, words: readonly [string, string]): Promise<boolean> {
  return page.evaluate<boolean>(`(([first, last]) => {
    const dialog = document.querySelector('[role="dialog"]');
    const texts = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT);
    let node = texts.nextNode();
    while (!(node.data.includes(first) && node.data.includes(last))) node = texts.nextNode();
    const rectOf = (word, at) => {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      return range.getBoundingClientRect();
    };
    const [left, right] = [rectOf(first, node.data.indexOf(first)), rectOf(last, node.data.lastIndexOf(last))];
    return left.right <= right.left + 1 || left.bottom <= right.top;
  })(${JSON.stringify(words)})`);
}
