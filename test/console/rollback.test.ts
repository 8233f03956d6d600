import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('a rollback', () => {
  it('shows what it changes, needs a reason, and restores the rules of the version', async ({ newsroom, story, visitor }) => {
    const { token } = story.admin;
    const read = { resource: 'Article', action: 'read', description: 'read articles' };
    const id = await newsroom.createPolicy({ name: 'Rolled back', rules: [read] });
    const path = `/admin/api/policies/${id}`;
    const remove = { resource: 'Article', action: 'delete', description: 'delete articles' };
    await newsroom.call('PUT', path, { token, body: { rules: [read, remove] } });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=history`, { as: story.admin });
    await page.getByRole('button', { name: 'Roll back to this version' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('rule "delete articles" is removed').waitFor();
    await expectSoundScreen(page);
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('opened too much');
    await dialog.getByRole('button', { name: 'Roll back to this version' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('opened too much').waitFor();
    const reply = await newsroom.call('GET', path, { token });
    expect(reply.at('data.rules')).toMatchObject([{ description: 'read articles' }]);
    expect(reply.at('data.rules.1')).toBeUndefined();
  });
});

describe('a new policy', () => {
  it('shows mistakes after the first input, and not before', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/policies/new', { as: story.admin });
    const mistake = page.getByText('expected a text that is not empty');
    await page.getByRole('heading', { name: 'New policy' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await mistake.count()).toBe(0);
    await page.getByRole('textbox', { name: 'Description' }).fill('a policy without a name');
    await mistake.waitFor();
  });
});
