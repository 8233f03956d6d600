/** Dialogs that say what a revocation, a deletion or a change of a policy denies and allows. */
import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

/** Returns the texts of elements in one line each. */
const linesOf = async (found: Locator): Promise<readonly string[]> =>
  (await found.allInnerTexts()).map((text) => text.replaceAll(/\s*\n\s*/g, ' | '));

describe('what a change denies and allows', () => {
  it('revoking a policy from a role names the actions that are denied', async ({ newsroom, story, visitor }) => {
    const id = story.policies.get('Readers: comments');
    const page = await visitor.open(newsroom, `/policies/${id}?tab=assignments`, { as: story.admin });
    await page.getByRole('button', { name: 'Revoke the assignment to editor' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the assignment to editor?' });
    await dialog.getByText('Denies 3 actions:').waitFor();
    expect(await linesOf(dialog.getByRole('listitem'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^create Comment \| now: .*Readers: comments.* \| then: no .*/)]),
    );
    expect(await dialog.getByText(/^Allows/).count()).toBe(0);
    await expectSoundScreen(page);
  });

  it('revoking a policy with a DENY from a user names what is allowed again', async ({ newsroom, story, visitor }) => {
    const reader = await newsroom.user({ name: 'Lea Blum' });
    const rules = [
      { resource: 'Comment', action: 'create', effect: 'DENY', description: 'no comments during the election' },
      { resource: 'Tip', action: 'create', description: 'send tips' },
    ];
    const id = await newsroom.createPolicy({ name: 'Election', rules, userId: reader.id });
    const page = await visitor.open(newsroom, `/policies/${id}?tab=assignments`, { as: story.admin });
    await page.getByRole('button', { name: 'Revoke the assignment to Lea Blum' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the assignment to Lea Blum?' });
    await dialog.getByText('Allows 1 action:').waitFor();
    const [denied, allowed] = await linesOf(dialog.getByRole('list'));
    expect(denied).toMatch(/^create Tip \| now: allowed by rule "send tips".* \| then: /);
    expect(allowed).toMatch(
      /^create Comment \| now: denied by rule "no comments during the election".* \| then: allowed by rule "write comments"/,
    );
  });

  it('deleting a policy names the changes for each role', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, `/policies/${story.policies.get('Embargo')}`, { as: story.admin });
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Delete Embargo?' });
    await dialog.getByText('Role editor').waitFor();
    await dialog
      .getByText(/actions? depends? on other conditions:/)
      .first()
      .waitFor();
    await expectSoundScreen(page);
  });
});
