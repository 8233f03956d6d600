import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type ConsoleService, it } from './console.fixture.ts';
import { clickOption } from './options.ts';
import { expectSoundScreen } from './screen-checks.ts';

const PATH = '/api/Tip';

function rowOf(page: Page, name: string) {
  return page.getByRole('table', { name: 'Assignments' }).locator('tbody tr').filter({ hasText: name });
}

describe('assignments', () => {
  it('an assignment with an expiry takes effect, its expiry changes, and revoking it says what is denied', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const user = await newsroom.user({ name: 'Ines Assigned' });
    const rules = [
      { resource: 'Tip', action: 'list', description: 'list tips' },
      { resource: 'Article', action: 'list', effect: 'DENY', description: 'no articles' },
    ];
    const id = await newsroom.createPolicy({ name: 'assigned by a form', rules });
    const statusOf = async (): Promise<number> => (await newsroom.call('GET', PATH, { token: user.token })).status;
    expect(await statusOf()).toBe(403);

    const page = await visitor.open(newsroom, `/policies/${id}`, { as: story.admin });
    await page.getByText('Not assigned yet').waitFor();
    await page.getByRole('button', { name: 'Assign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign the policy' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The list of all assignments leads to the same dialog.
    await page.getByRole('link', { name: 'Assignments', exact: true }).click();
    await page.getByRole('button', { name: 'Assign a policy' }).click();
    const question = page.getByRole('dialog', { name: 'Assign a policy' });
    await question.getByRole('combobox').or(question.getByRole('textbox')).first().fill('assigned by a form');
    await clickOption(page, /assigned by a form/);
    await question.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(new RegExp(`/policies/${id}`));
    await dialog.getByText('a user', { exact: true }).click();
    const picker = dialog
      .getByRole('combobox', { name: 'User' })
      .or(dialog.getByRole('textbox', { name: 'User' }))
      .first();
    await picker.fill('Ines');
    await clickOption(page, /Ines Assigned/);
    await dialog.getByLabel('Expires').fill('2099-01-31T10:00');
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await page.getByText('The policy was assigned.').waitFor();
    await page.getByText('Not assigned yet').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Assignments' }).click();
    await rowOf(page, 'Ines Assigned').getByText('2099').waitFor();
    expect(await statusOf()).toBe(200);

    await rowOf(page, 'Ines Assigned').getByRole('button', { name: 'Change the expiry' }).click();
    await page.getByRole('dialog').getByLabel('Expires').fill('2098-06-30T10:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Change the expiry' }).click();
    await rowOf(page, 'Ines Assigned').getByText('2098').waitFor();

    await page.getByRole('button', { name: 'Revoke the assignment to Ines Assigned' }).click();
    await page.getByRole('dialog').getByText('Denies 1 action:').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('textbox', { name: 'Reason for the change' }).fill('project ended');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The policy is assigned to no role and no user').waitFor();
    expect(await statusOf()).toBe(403);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('project ended').waitFor();
    await page
      .getByText(/^assigned to user Ines Assigned: active/)
      .first()
      .waitFor();
  });

  it('a whole name that is typed into an open picker limits its items, and opening it again after the choice offers all', async ({
    newsroom,
    story,
    visitor,
  }) => {
    for (const name of ['limits the items', 'another policy']) await newsroom.createPolicy({ name, rules: [] });
    const page = await visitor.open(newsroom, '/assignments', { as: story.admin });
    await page.getByRole('button', { name: 'Assign a policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign a policy' });
    const picker = dialog.getByRole('combobox').or(dialog.getByRole('textbox')).first();
    const options = page.getByRole('option').filter({ visible: true });
    await picker.click();
    await options.filter({ hasText: 'another policy' }).waitFor();
    await picker.fill('limits the items');
    await expect.poll(() => options.allTextContents()).toEqual(['limits the items']);
    await clickOption(page, 'limits the items');
    await picker.click();
    await options.filter({ hasText: 'another policy' }).waitFor();
  });

  it('the list finds assignments that expire soon, and revokes all that are selected after a typed word', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const id = await newsroom.createPolicy({ name: 'expires soon', rules: [{ resource: 'Tip', action: 'read' }] });
    const users = [await newsroom.user({ name: 'Soon One' }), await newsroom.user({ name: 'Soon Two' })];
    const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString();
    for (const user of users)
      await newsroom.call('POST', `/admin/api/policies/${id}/assign/user/${user.id}`, { token: story.admin.token, body: { expiresAt } });
    const page = await visitor.open(newsroom, '/assignments?expires=week', { as: story.admin });
    // The dialog still compares permissions when the assignments are revoked.
    const revoked = page.waitForResponse('**/assignments/batch');
    const compared: Route[] = [];
    await page.route('**/permissions', (route, request) => {
      if (request.postData()?.includes('draft') !== true) return route.continue();
      compared.push(route);
      return revoked.then(() => route.continue());
    });
    await rowOf(page, 'Soon Two').waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 assignments selected').waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke 2 assignments?' });
    await expect.poll(() => dialog.getByRole('button', { name: 'Revoke' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Type revoke 2 to confirm' }).fill('revoke 2');
    await expect.poll(() => compared.length).toBe(2);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('2 assignments were revoked.').waitFor();
    await expect.poll(() => rowOf(page, 'Soon').count()).toBe(0);
    const { at } = await newsroom.call('GET', `/admin/api/policies/${id}/assignments`, { token: story.admin.token });
    expect(at('data')).toEqual([]);
  });
});

describe('assignments that another admin has changed meanwhile', () => {
  async function assign(newsroom: ConsoleService, policyName: string, userName: string): Promise<() => Promise<void>> {
    const { token } = await newsroom.admin();
    const user = await newsroom.user({ name: userName });
    const id = await newsroom.createPolicy({ name: policyName, rules: [{ resource: 'Tip', action: 'read' }] });
    const path = `/admin/api/policies/${id}/assign/user/${user.id}`;
    const send = async (days: number): Promise<void> => {
      const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString();
      const body = { changes: [{ op: 'update', policyId: id, userId: user.id, expiresAt }] };
      const reply = await newsroom.call('POST', '/admin/api/assignments/batch', { token, body });
      expect(reply.status, reply.text).toBe(200);
    };
    expect((await newsroom.call('POST', path, { token, body: {} })).status).toBe(201);
    return () => send(40);
  }

  it('those of a selection are revoked by the second attempt, and another filter ends the selection', async ({
    newsroom,
    story,
    visitor,
  }) => {
    const change = await assign(newsroom, 'selected and changed', 'Selma Selected');
    const page = await visitor.open(newsroom, '/assignments', { as: story.admin });
    visitor.allow(/^response 412: POST/);
    const box = page.getByRole('checkbox', { name: /Selma Selected/ });
    await box.check();
    await page.getByText('1 assignment selected').waitFor();
    await page
      .getByRole('combobox', { name: 'Expires' })
      .or(page.getByRole('textbox', { name: 'Expires' }))
      .first()
      .click();
    await clickOption(page, 'within 7 days');
    await page.getByText('1 assignment selected').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await box.check();
    await change();
    await page.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke 1 assignment?' });
    await dialog.getByRole('textbox', { name: 'Type revoke 1 to confirm' }).fill('revoke 1');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('1 assignment was revoked.').waitFor();
  });

  it.for([
    ['Change the expiry', 'Elif Expiry'],
    ['Revoke', 'Reto Revoked'],
  ] as const)('the dialog %s of a policy succeeds with the second attempt', async ([action, name], { newsroom, story, visitor }) => {
    const change = await assign(newsroom, `changed before ${action}`, name);
    const page = await visitor.open(newsroom, `/policies?search=changed+before+${action}`, { as: story.admin });
    visitor.allow(/^response 412: POST/);
    await page.getByRole('link', { name: `changed before ${action}` }).click();
    await page.getByRole('tab', { name: 'Assignments' }).click();
    await rowOf(page, name).getByRole('button', { name: action }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await change();
    await dialog.getByRole('button', { name: action }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: action }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});

describe('policies that are changed together', () => {
  it('an import shows its differences before anything is stored', async ({ newsroom, story, visitor }) => {
    const rules = [{ resource: 'Tip', action: 'read' }];
    const id = await newsroom.createPolicy({ name: 'imported', rules });
    const { token } = story.admin;
    const description = async (): Promise<unknown> =>
      (await newsroom.call('GET', `/admin/api/policies/${id}`, { token })).at('data.description');
    const page = await visitor.open(newsroom, '/policies/import', { as: story.admin });
    const check = page.getByRole('button', { name: 'Check without storing' });
    await check.hover();
    await page.getByText('Choose a file first').waitFor();
    const policies = [{ name: 'imported', type: 'ATTRIBUTE_BASED', description: 'from a file', rules }];
    const file = { name: 'policies.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({ policies })) };
    await page.locator('input[type="file"]').setInputFiles(file);
    await check.click();
    await page.getByText('This import would make these changes. Nothing was stored.').waitFor();
    await page.getByText('from a file').first().waitFor();
    await expectSoundScreen(page);
    expect(await description()).toBeUndefined();
    await page.getByRole('button', { name: 'Import 1 policy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import 1 policy' }).click();
    await page.getByRole('heading', { name: 'Policies', exact: true, level: 1 }).waitFor();
    expect(await description()).toBe('from a file');
    await page.getByRole('searchbox', { name: 'Search names and descriptions' }).fill('no policy has this text');
    await page.getByRole('button', { name: 'Clear filters' }).last().click();
    await page.getByRole('link', { name: 'imported', exact: true }).waitFor();
  });

  it('a typed word deactivates them; those that were refused can be tried again', async ({ newsroom, story, visitor }) => {
    const names = ['bulk first', 'bulk second'];
    const ids = await Promise.all(names.map((name) => newsroom.createPolicy({ name, rules: [{ resource: 'Tip', action: 'read' }] })));
    const { token } = story.admin;
    const states = async (): Promise<readonly unknown[]> =>
      Promise.all(ids.map(async (id) => (await newsroom.call('GET', `/admin/api/policies/${id}`, { token })).at('data.isActive')));
    const page = await visitor.open(newsroom, '/policies?search=bulk', { as: story.admin });
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await page.getByText('2 policies selected').waitFor();
    // Until the findings are counted, the list is loaded again, and would have the version of the other admin.
    await expect.poll(() => page.getByTitle('The findings are not counted yet.').count(), { timeout: 30_000 }).toBe(0);
    // Another admin changes one of them meanwhile.
    await newsroom.call('PUT', `/admin/api/policies/${ids[1]}`, { token, body: { description: 'changed' } });
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate 2 policies?' });
    const confirm = dialog.getByRole('button', { name: 'Deactivate' });
    await dialog.getByText('The policy is assigned to no role and no user').waitFor();
    await expectSoundScreen(page);
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Type deactivate 2 to confirm' }).fill('deactivate 2');
    await dialog.getByRole('textbox', { name: 'Reason for the change' }).fill('cleared up');
    visitor.allow(/^response 412: PUT/);
    await confirm.click();
    await dialog.getByText('1 changed, 1 refused; the first refusal: bulk second').waitFor();
    expect(await states()).toEqual([false, true]);
    await confirm.click();
    await page.getByText('2 policies were deactivated.').waitFor();
    await expect.poll(() => page.getByText('2 policies selected').count()).toBe(0);
    await page.locator('[data-row]:focus').filter({ hasText: 'bulk' }).waitFor();
    expect(await states()).toEqual([false, false]);
  });
});
