/** Lists, answers and figures whose question changes while they are shown. */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it, startConsole } from './console.fixture.ts';

const RULES = [{ resource: 'Tip', action: 'read', description: 'read tips' }];

/** Changes a policy, and returns the path of the simulator with the draft. */
async function linkDraft(page: Page): Promise<string> {
  await page.getByRole('textbox', { name: 'Description' }).fill('tried by a link');
  await page.getByText('no mistakes').waitFor();
  await page.getByRole('link', { name: 'Simulator' }).click();
  await page.waitForURL(/\/simulator.*#draft=/);
  const { pathname, hash } = new URL(page.url());
  return `${pathname.replace('/console', '')}${hash}`;
}

describe('a changed question', () => {
  it('the selection of policies ends with another filter', async ({ newsroom, story, visitor }) => {
    for (const name of ['selected before', 'selected after']) await newsroom.createPolicy({ name, rules: RULES });
    const page = await visitor.open(newsroom, '/policies?search=selected%20before', { as: story.admin });
    await page.getByRole('checkbox', { name: 'Select selected before' }).check();
    await page.getByText('1 policy selected').waitFor();
    await page.getByRole('searchbox', { name: 'Search names and descriptions' }).fill('selected after');
    await page.getByRole('checkbox', { name: 'Select selected after' }).waitFor();
    await expect.poll(() => page.getByText('1 policy selected').count()).toBe(0);
  });

  it('leaving out a linked draft keeps the draft and the typed question', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'tried by a link', rules: RULES });
    const link = await linkDraft(await visitor.open(newsroom, `/policies/${id}`, { as: story.admin }));
    const page = await visitor.open(newsroom, link, { as: story.admin, isolated: true });
    await page.getByRole('button', { name: /^Ask if you may list / }).click();
    const values = page.getByRole('textbox', { name: 'Values of the request (JSON)' });
    await values.fill('{"title": "typed"}');
    await page.getByRole('button', { name: 'Leave out the draft' }).click();
    await page.getByText('A draft is left out.').waitFor();
    expect(await values.inputValue()).toBe('{"title": "typed"}');
    await page.getByText('The question has changed.').waitFor();
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('The question has changed.').waitFor({ state: 'detached' });
    await page.getByText('A draft is left out.').waitFor();
    await page.getByRole('button', { name: 'Compare with the draft' }).click();
    await page.getByRole('button', { name: 'Leave out the draft' }).waitFor();
  });

  it('the figures of a preview are marked while its question is another one', async ({ newsroom, story, visitor }) => {
    const id = await newsroom.createPolicy({ name: 'replayed', rules: RULES });
    const page = await visitor.open(newsroom, '/preview', { as: story.admin });
    const draft = page.getByRole('textbox', { name: /^Draft/ });
    const replay = page.getByRole('button', { name: 'Replay' });
    const outdated = page.getByText('The question has changed.');
    await draft.fill(JSON.stringify({ removePolicies: [id] }));
    await replay.click();
    await page.getByText(/decisions replayed/).waitFor();
    expect(await outdated.count()).toBe(0);
    await draft.fill(JSON.stringify({ policies: [{ id, priority: 7 }] }));
    await outdated.waitFor();
    await replay.click();
    await outdated.waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: /^Fill values/ }).check();
    await outdated.waitFor();
  });

  it('deleted records cannot be exported, and the button says why', async ({ visitor, onTestFinished }) => {
    const definition = 'name: Note\nsoftDelete: true\nfields:\n  title: { type: string, required: true }\n';
    const service = await startConsole({ definitions: { 'Note.yaml': definition } });
    onTestFinished(() => service.close());
    const page = await visitor.open(service, '/data/Note', { as: await service.admin() });
    const exporting = page.getByRole('button', { name: 'Export' });
    await exporting.waitFor();
    expect(await exporting.getAttribute('aria-disabled')).toBeNull();
    await page.getByRole('switch', { name: 'Deleted records' }).check({ force: true });
    await expect.poll(() => exporting.getAttribute('aria-disabled')).toBe('true');
    await exporting.hover();
    await page.getByText('Deleted records cannot be exported').waitFor();
  });
});
