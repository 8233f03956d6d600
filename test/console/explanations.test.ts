import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('the explanation of a decision', () => {
  it('shows the names of users instead of their ids', async ({ newsroom, story, visitor }) => {
    const rule = { resource: 'Tip', action: 'delete', conditions: [{ field: 'resource.editorId', operator: 'eq', value: '${user.id}' }] };
    const reader = await newsroom.user({ name: 'Ines Sørby' });
    await newsroom.createPolicy({ name: 'Own tips', userId: reader.id, rules: [rule] });
    const tip = await newsroom.createRecord('Tip', { subject: 'A tip', text: 'Look there', editorId: story.maya.id });
    const path = `/simulator?user=${reader.id}&resource=Tip&action=delete&id=${tip}`;
    const page = await visitor.open(newsroom, path, { as: story.admin });
    await page.getByText('What would have allowed it').waitFor();
    const unmet = page.getByText('but the value is');
    await expect
      .poll(() => unmet.textContent())
      .toMatch(/resource\.editorId is \$\{user\.id\} \(Ines Sørby\), but the value is Maya Lindqvist/);
    // The entry of the audit log shows them too.
    const reply = await newsroom.call('DELETE', `/api/Tip/${tip}`, { token: reader.token });
    await page.goto(`${newsroom.console}/decisions/${reply.headers['x-decision-id']}`);
    await page.getByText('but the value is Maya Lindqvist').waitFor();
  });

  it('links each rule that ties with the deciding one, and shows a command that the browser does not copy', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const rule = { resource: 'Tip', action: 'list', description: 'list tips' };
    const reader = await newsroom.user({ name: 'Twice Allowed' });
    for (const name of ['First of two', 'Second of two'])
      await newsroom.createPolicy({ name, userId: reader.id, priority: 900, rules: [rule] });
    const page = await visitor.open(newsroom, '/simulator', { as: story.admin });
    await page.getByRole('button', { name: /^Ask if you may list/ }).click();
    await page.getByText('allowed', { exact: true }).first().waitFor();
    await page.goto(`${newsroom.console}/simulator?user=${reader.id}&resource=Tip&action=list`);
    await page.getByRole('link', { name: /Second of two.*, .*list tips/ }).waitFor();
    await expectSoundScreen(page);
    // As on a page without TLS.
    await page.evaluate('delete Navigator.prototype.clipboard');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Command' }).inputValue()).toContain('/admin/api/policies/test-access');
    await expectSoundScreen(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /Second of two.*, .*list tips/ }).click();
    await page.waitForURL(/policies\/.*rule=/);
    await page.getByRole('heading', { name: 'Second of two', level: 1 }).waitFor();
  });

  it('names, for a request for any record, the condition that the record must meet', async ({ newsroom, story, visitor }) => {
    const conditions = [{ field: 'resource.subject', operator: 'eq', value: 'Flood' }];
    const reader = await newsroom.user({ name: 'Any Record' });
    await newsroom.createPolicy({ name: 'Tips on floods', userId: reader.id, rules: [{ resource: 'Tip', action: 'delete', conditions }] });
    const page = await visitor.open(newsroom, `/simulator?user=${reader.id}&resource=Tip&action=delete`, { as: story.admin });
    await page.getByText('Choose a record to see the decision on it').waitFor();
    await page.locator('span', { hasText: /^resource\.subject is "Flood"$/ }).waitFor();
    expect(await page.getByText('denied', { exact: true }).count()).toBe(0);
    await expectSoundScreen(page);
  });

  it('says in words on which condition a user may act, as in the matrix of roles', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, `/data/Article/${story.articles.get('a-budget-at-last')}`, { as: story.admin });
    await page.getByRole('link', { name: 'Who can…' }).click();
    await page.getByRole('row').filter({ hasText: 'Maya Lindqvist' }).getByRole('link', { name: 'Maya Lindqvist' }).waitFor();
    await page.goto(`${newsroom.console}/access?tab=whoCan&resource=Article&action=update`);
    const maya = page.getByRole('row').filter({ hasText: 'Maya Lindqvist' });
    await maya.getByText('resource.department is "politics"').waitFor();
    await page.getByRole('tab', { name: 'Roles' }).click();
    const cell = page.getByRole('button', { name: /^editor: update Article/ });
    await expect.poll(() => cell.getAttribute('title')).toContain('resource.department is user.department');
  });

  it('marks the built-in rule, which no link opens', async ({ newsroom, story, visitor }) => {
    const update = { resource: 'User', action: 'update', description: 'change colleagues' };
    await newsroom.createPolicy({ name: 'Colleagues', userId: story.rita.id, rules: [update] });
    const path = `/simulator?user=${story.rita.id}&resource=User&action=update&id=${story.admin.id}`;
    const page = await visitor.open(newsroom, path, { as: story.admin });
    await page
      .getByRole('img', { name: /This rule is built in/ })
      .first()
      .waitFor();
    expect(await page.locator('a[href*="built-in"]').count()).toBe(0);
    await expectSoundScreen(page);
  });
});
