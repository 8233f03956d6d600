import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** The figure above the name of a class. */
const figureOf = (name: string): string => `//p[text()="${name}"]/preceding-sibling::p[1]`;

/** Requires that the permissions of a user and of a role mark the action that the draft denies, and that a cell has both reasons. */
async function expectComparedAccess(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByText('The draft changes 1 cell').waitFor();
  const changed = page.getByRole('button', { name: 'Comment: create Comment allowed, denied with the draft' });
  await expect.poll(() => changed.getAttribute('data-effect')).toBe('deny');
  await expectSoundScreen(page);
  await changed.click();
  const dialog = page.getByRole('dialog', { name: 'Comment · create' });
  await dialog.getByText('create Comment: allowed').waitFor();
  await dialog.getByText('create Comment: denied').waitFor();
  await expectSoundScreen(page);
  await page.keyboard.press('Escape');
  // A dialog that is still closing covers the switch, and a forced click would reach the dialog.
  await dialog.waitFor({ state: 'hidden' });
  // The address has the state of the switch, so that a busy machine shows it later than the click.
  await page.getByRole('switch', { name: 'Compare with the draft' }).click({ force: true });
  await page.getByRole('button', { name: 'Comment: create Comment allowed', exact: true }).waitFor();
  await clickTogether(page.getByRole('switch', { name: 'Compare with the draft' }), page.getByRole('tab', { name: 'Roles' }));
  await choose(page, 'Resource', 'Comment');
  await page.getByText('The draft changes 1 cell').waitFor();
  await page.getByRole('button', { name: 'moderator: create Comment allowed, denied with the draft' }).click();
  await page.getByRole('dialog', { name: 'moderator · create' }).getByText('create Comment: denied').waitFor();
  await expectSoundScreen(page);
  // The simulator opens in the same page, with the draft.
  await page.evaluate('globalThis.isSamePage = true');
  await page.getByRole('dialog').getByRole('link', { name: 'Open in the simulator' }).click();
  await page.waitForURL(/\/simulator\?.*role=moderator.*#draft=/);
  await page.getByText('The draft denies what the policies in force allow.').waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  await page.goBack();
  await page.getByRole('tab', { name: 'Who can' }).click();
  await choose(page, 'Action', 'create');
  await page.getByText('The draft changes 2 lines').waitFor();
  for (const changed of ['moderator', 'Previewed Writer']) {
    const cells = page.getByRole('row').filter({ hasText: changed }).getByRole('cell');
    await expect
      .poll(() => cells.allTextContents())
      .toEqual([changed, expect.stringContaining('allowed'), expect.stringContaining('denied')]);
  }
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'Rita Sommer' }).getByRole('cell').last().textContent()).toBe('the same');
  await expectSoundScreen(page);
}

/** Clicks two elements before the page is rendered again, as a user can on a busy machine. */
async function clickTogether(first: Locator, second: Locator): Promise<void> {
  const other = await second.elementHandle();
  await first.evaluate((element, next) => {
    for (const each of [element, next]) (each as unknown as { click(): void }).click();
  }, other);
}

async function choose(page: Page, list: string, option: string): Promise<void> {
  await page
    .getByRole('combobox', { name: list })
    .or(page.getByRole('textbox', { name: list }))
    .first()
    .click();
  await clickOption(page, option);
}

describe('the preview of a draft', () => {
  it('counts a decision that would change and one that is unknown, and explains both', async ({ newsroom, story, visitor }) => {
    const reader = await newsroom.user({ name: 'Previewed Reader' });
    const note = { resource: 'Comment', action: 'create', description: 'comments of a reader' };
    const policyId = await newsroom.createPolicy({ name: 'Comments of a reader', userId: reader.id, priority: 900, rules: [note] });
    const body = { articleId: story.articles.get('harbour-reopens'), text: 'Hello' };
    const first = await newsroom.call('POST', '/api/Comment', { token: reader.token, body });
    expect(first.status).toBe(201);
    await newsroom.call('GET', `/api/Article/${story.articles.get('harbour-reopens')}`, { token: reader.token });

    // The comment would be denied. No rule has read the fee of the article, so the audit log did not keep it.
    const denies = [
      { resource: 'Comment', action: 'create', effect: 'DENY', priority: 999 },
      {
        ...{ resource: 'Article', action: 'read', effect: 'DENY', priority: 999 },
        conditions: [{ field: 'resource.fee', operator: 'gt', value: '100', ifExists: true }],
      },
    ];
    const draft = { policies: [{ id: policyId, rules: denies }] };
    const page = await visitor.open(newsroom, '/preview', { as: story.admin });
    await page.getByText('There is no draft').filter({ visible: true }).waitFor();
    await page.getByRole('combobox', { name: 'Time of the entries' }).selectOption('24h');
    await page.waitForURL(/range=24h/);
    // The first click after the draft was typed must not be lost.
    await page.getByLabel('Draft (JSON)').fill(JSON.stringify(draft));
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/^\d+ decisions replayed$/).waitFor();
    await page.waitForURL(/#draft=/);
    await expect.poll(() => page.locator(figureOf('allowed before, denied now')).textContent()).toBe('1');
    await expect.poll(() => page.locator(figureOf('unknown')).textContent()).toBe('1');
    await page.getByText('create Comment').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Show both traces' }).click();
    const dialog = page.getByRole('dialog', { name: /create Comment/ });
    await dialog.getByText('allowed by rule').first().waitFor();
    await dialog.getByText('denied by rule "DENY create on Comment"').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: /^unknown/ }).click();
    await page.getByText('Values that were not kept: resource.fee').waitFor();
    // The address alone contains the draft.
    await page.evaluate('sessionStorage.clear()');
    await page.reload();
    await expect.poll(() => page.getByLabel('Draft (JSON)').inputValue()).toContain('"resource.fee"');
    // The address selects the entries, and a typed draft that was not replayed is not lost without a question.
    await page.getByRole('combobox', { name: 'Resource of the entries' }).selectOption('Article');
    await page.waitForURL(/resource=Article/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => page.locator(figureOf('unknown')).textContent()).toBe('1');
    await expect.poll(() => page.locator(figureOf('allowed before, denied now')).textContent()).toBe('0');
    await page.getByLabel('Draft (JSON)').fill('{"removePolicies": []');
    await page.getByRole('link', { name: 'Assignments' }).click();
    await page.getByText('Leave without saving?').waitFor();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Assignments', level: 1 }).waitFor();

    // A new policy is replayed as if it was assigned.
    await page.goto(`${newsroom.console}/policies/new?tab=preview`);
    await page.getByRole('button', { name: 'Change the rules' }).click();
    await page.getByRole('tab', { name: 'JSON / YAML' }).click();
    const text = JSON.stringify({ name: 'No comments', type: 'ATTRIBUTE_BASED', rules: [denies[0]] });
    await page.getByRole('textbox', { name: 'Policy as text' }).fill(text);
    await page.getByText('no mistakes').waitFor();
    await page.getByRole('tab', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Replay' }).focus();
    await page.getByRole('tooltip').getByText('without an assignment, its rules apply to no request').waitFor();
    await page.getByText('Assume that the policy is assigned to').waitFor();
    await choose(page, 'Role', 'user');
    await page.waitForURL(/assumed=role/);
    await page.getByRole('button', { name: 'Only entries of one user…' }).click();
    await page
      .getByRole('textbox', { name: 'User of the entries' })
      .or(page.getByRole('combobox', { name: 'User of the entries' }))
      .fill('Previewed R');
    await clickOption(page, /Previewed Reader/);
    await page.waitForURL(/user=/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => page.locator(figureOf('allowed before, denied now')).textContent()).toBe('1');
    await page.getByText('Role user').waitFor();
    await page.getByText('Denies 1 action:').waitFor();
    await expectSoundScreen(page);

    // The simulator tries the draft in the same tab, and the editor offers it again.
    await page.getByRole('link', { name: 'Simulator', exact: true }).click();
    await page.getByRole('heading', { name: 'Simulator', level: 1 }).waitFor();
    await page.waitForURL(/#draft=/);
    await page.goto(`${newsroom.console}/policies/new`);
    await page.getByRole('button', { name: 'Restore the changes' }).click();
    await page.getByText('create on Comment').waitFor();
  });

  it('replays the unsaved changes of a policy in its tab, and opens the simulator with them', async ({ newsroom, story, visitor }) => {
    const writer = await newsroom.user({ name: 'Previewed Writer' });
    const rules = [{ resource: 'Comment', action: 'create', description: 'comments of a writer' }];
    const policy = { name: 'Previewed in its tab', userId: writer.id, role: 'moderator', priority: 900, rules };
    const id = await newsroom.createPolicy(policy);
    const body = { articleId: story.articles.get('harbour-reopens'), text: 'Hello' };
    expect((await newsroom.call('POST', '/api/Comment', { token: writer.token, body })).status).toBe(201);

    const page = await visitor.open(newsroom, `/policies/${id}?tab=preview&range=24h`, { as: story.admin });
    await page.getByText('There is nothing to preview').waitFor();
    await page.getByRole('button', { name: 'Change the rules' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('DENY', { exact: true }).click();
    await page.getByText('unsaved changes').waitFor();
    await page.getByRole('tab', { name: 'Preview' }).click();
    await page.getByRole('combobox', { name: 'Time of the entries' }).selectOption('24h');
    await page.waitForURL(/tab=preview&range=24h|range=24h&tab=preview/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => page.locator(figureOf('allowed before, denied now')).textContent()).toBe('1');
    // Permissions change for those who have sent no request, too.
    await page.getByText('What changes for roles and users').waitFor();
    await page.getByText('Role moderator').waitFor();
    await expectSoundScreen(page);

    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Ask the simulator under these changes, in a new tab' }).click();
    const simulator = await opened;
    await simulator.goto(`${newsroom.console}/simulator?user=${writer.id}&resource=Comment&action=create`);
    await simulator.getByText('With the draft', { exact: true }).first().waitFor();
    await simulator.getByText(/^denied by /).waitFor();
    await simulator.getByText('The draft denies what the policies in force allow.').waitFor();
    // The address contains the draft: another browser shows the same.
    await simulator.waitForURL(/#draft=/);
    await expectSoundScreen(simulator);
    await expectComparedAccess(simulator, `${newsroom.console}/access?tab=permissions&user=${writer.id}${new URL(simulator.url()).hash}`);
    await simulator.goBack();
    await simulator.getByText('The draft denies what the policies in force allow.').waitFor();
    const { search, hash } = new URL(simulator.url());
    const other = await visitor.open(newsroom, `/simulator${search}${hash}`, { as: story.admin, isolated: true });
    await other.getByText('The draft denies what the policies in force allow.').waitFor();
    await other.getByRole('button', { name: 'Discard the draft' }).click();
    await other.getByText('With the draft').waitFor({ state: 'detached' });
    expect(new URL(other.url()).hash).toBe('');
    await other.goto(`${newsroom.console}/simulator${search}#draft=AAAA`);
    await other.getByText('The draft of this address cannot be read').waitFor();
    await page.getByText('unsaved changes', { exact: true }).waitFor();

    // A draft with mistakes says why it cannot be replayed.
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('');
    await page.getByText('1 mistake', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save… (1 mistake)' }).waitFor();
    await page.getByRole('tab', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Replay' }).focus();
    await page.getByRole('tooltip').getByText('The policy has mistakes').waitFor();
  });
});
