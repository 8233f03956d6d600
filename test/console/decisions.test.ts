import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it } from './console.fixture.ts';
import type { Story } from './newsroom-story.ts';
import { clickOption } from './options.ts';
import { waitForData } from './page-requests.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Lets Tom change an article of another department, which is denied. */
async function denyTom(newsroom: ConsoleService, { tom, articles }: Story): Promise<string> {
  const path = `/api/Article/${articles.get('a-budget-at-last')}`;
  const reply = await newsroom.call('PUT', path, { token: tom.token, body: { status: 'draft' } });
  expect(reply.status).toBe(403);
  return String(reply.headers['x-decision-id']);
}

function rows(page: Page): ReturnType<Page['locator']> {
  return page.getByRole('table', { name: 'Decisions' }).locator('tbody tr').filter({ hasText: /\S/ });
}

describe('the audit log', () => {
  it('a value of a facet selects its entries', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h', { as: story.admin });
    await page.getByTitle('Show only Decision denied').click();
    await expect.poll(() => page.url()).toContain('allowed=false');
    await expect.poll(() => rows(page).filter({ hasText: 'denied' }).count()).toBeGreaterThan(5);
    await expect.poll(() => rows(page).filter({ hasText: 'allowed' }).count()).toBe(0);
  });

  it('an entry opens with its explanation, and its address opens it again', async ({ newsroom, story, visitor }) => {
    const id = await denyTom(newsroom, story);
    const page = await visitor.open(newsroom, '/decisions?range=1h&allowed=false&kind=access', { as: story.admin });
    await rows(page).first().click();
    const drawer = page.getByRole('dialog', { name: 'Decision' });
    await drawer.getByText('One condition away').waitFor();
    await expectSoundScreen(page);
    expect(page.url()).toContain(id);
    await page.reload();
    await drawer.getByText('One condition away').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  });

  it('j and Enter open an entry without a mouse', async ({ newsroom, story, visitor }) => {
    await denyTom(newsroom, story);
    const page = await visitor.open(newsroom, '/decisions?range=1h', { as: story.admin });
    await rows(page).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Decision' }).waitFor();
  });

  it('a jump of the scroll bar shows other entries in order, and none of them has the focus of an earlier one', async ({
    newsroom,
    story,
    visitor,
  }) => {
    await Promise.all(Array.from({ length: 150 }, () => newsroom.call('GET', '/api/Tip')));
    const page = await visitor.open(newsroom, '/decisions?range=1h&resource=Tip', { as: story.admin });
    await rows(page).first().waitFor();
    await page.keyboard.press('j');
    const indexes = (): Promise<readonly number[]> =>
      page.evaluate<number[]>(`[...document.querySelectorAll('tr[data-row]')].map((row) => Number(row.ariaRowIndex))`);
    expect(await page.evaluate('document.activeElement.ariaRowIndex')).toBe('1');
    for (const isDown of [true, false, true]) {
      await page.evaluate(`(({ parentElement: scroller }) => {
        scroller.scrollTop = ${isDown ? 'scroller.scrollHeight' : '0'};
      })(document.querySelector('table[aria-rowcount]'))`);
      await expect.poll(async () => (await indexes()).slice(0, 1).map((first) => first > 100)).toEqual([isDown]);
      const shown = await indexes();
      expect(shown).toEqual(shown.map((_, position) => (shown[0] ?? 0) + position));
      expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
    }
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('the live tail shows a decision that is made now', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=1h&kind=access', { as: story.admin });
    await page.getByRole('switch', { name: 'Follow live' }).check({ force: true });
    await page.getByText('Waiting for the next entry').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('live')).toBe('true');
    // The stream begins with the entries after it has opened, and the page does not show when that is.
    const countAfterDenial = async (): Promise<number> => {
      await denyTom(newsroom, story);
      return rows(page).filter({ hasText: 'update' }).count();
    };
    await expect.poll(countAfterDenial, { interval: 500 }).toBeGreaterThan(0);
  });

  it('a page that the service refuses is requested again by its button alone', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    visitor.allow(/^response 503: GET .*cursor=/);
    let refused = 0;
    await page.route('**/admin/api/decisions?**', async (route, request) => {
      const isNext = request.url().includes('cursor=');
      if (isNext && refused < 3) {
        refused++;
        await route.fulfill({ status: 503, json: { title: 'Not available', status: 503, code: 'STORAGE_UNAVAILABLE' } });
        return;
      }
      const response = await route.fetch({ url: request.url().replace('cursor=further', '') });
      const body = (await response.json()) as { readonly data: readonly unknown[] };
      // The first page ends within the window, so that the screen requests the next one, also if other tests have left many entries.
      await route.fulfill({ response, json: { ...body, data: body.data.slice(0, 20), nextCursor: isNext ? undefined : 'further' } });
    });
    await page.getByRole('link', { name: 'Decisions', exact: true }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'STORAGE_UNAVAILABLE' });
    await alert.waitFor();
    await rows(page).first().hover();
    await waitForData(page);
    expect(refused).toBe(1);
    for (const expected of [2, 3]) {
      await alert.getByRole('button', { name: 'Retry' }).click();
      await expect.poll(() => refused).toBe(expected);
    }
    await alert.getByRole('button', { name: 'Retry' }).click();
    await alert.waitFor({ state: 'detached' });
  });

  it('an address without entries offers to remove its filters', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=1h&resource=Nothing', { as: story.admin });
    await page.getByText('No entry matches').waitFor();
    await expectSoundScreen(page);
  });
});

describe('the simulator', () => {
  it('the simulator names the condition that is missing and the value that it found', async ({ newsroom, story, visitor }) => {
    const question = `user=${story.tom.id}&resource=Article&action=update&id=${story.articles.get('a-budget-at-last')}`;
    const page = await visitor.open(newsroom, `/simulator?${question}`, { as: story.admin });
    await page.getByText('One condition away').waitFor();
    const text = (await page.getByRole('main').textContent()) ?? '';
    expect(text).toContain('no rule matched');
    expect(text).toContain('"politics"');
    expect(text).toContain('"sports"');
  });

  it('the simulator decides the same question again after a policy was changed', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'asked again', role: 'user', rules: [{ resource: 'Tip', action: 'update' }] });
    const page = await visitor.open(newsroom, '/simulator?role=user&resource=Tip&action=update', { as: story.admin });
    await page.getByRole('link', { name: 'Decided by asked again' }).waitFor();
    await newsroom.call('PUT', `/admin/api/policies/${id}`, { token: story.admin.token, body: { isActive: false } });
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('no rule matched').waitFor();
  });

  it('the simulator answers a question that is typed, and its address contains it', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/simulator', { as: story.admin });
    await page.getByText('No question yet').waitFor();
    await expectSoundScreen(page);
    await page
      .getByRole('combobox', { name: 'Action' })
      .or(page.getByRole('textbox', { name: 'Action' }))
      .first()
      .click();
    await clickOption(page, 'list');
    await page
      .getByRole('combobox', { name: 'Resource' })
      .or(page.getByRole('textbox', { name: 'Resource' }))
      .first()
      .click();
    await clickOption(page, /Tip/);
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('no rule matched').waitFor();
    expect(page.url()).toContain('resource=Tip');
    await page.getByRole('button', { name: 'Role, time and address' }).click();
    const time = page.getByLabel('Time', { exact: true });
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await expect.poll(() => time.inputValue()).toMatch(/^\d{4}-\d\d-\d\dT/);
    await time.fill('2026-01-31T09:00:30');
    await page.getByRole('button', { name: 'Decide' }).click();
    // The browser of the tests is in Berlin.
    await page.waitForURL(/time=%222026-01-31T08%3A00%3A30Z%22|time=2026-01-31T08%3A00%3A30Z/);
    await page.getByText('no rule matched').waitFor();
  });
});
