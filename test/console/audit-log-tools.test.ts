import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('views and exports of the audit log', () => {
  it('a saved view opens with its filters, and is deleted', async ({ newsroom, story, visitor }) => {
    const filtered = await visitor.open(newsroom, '/decisions?range=24h&kind=access&allowed=false', { as: story.admin });
    await filtered.getByRole('button', { name: 'Saved views' }).click();
    await filtered.getByRole('menuitem', { name: 'Save this view' }).click();
    await filtered.getByRole('textbox', { name: 'Name of the view' }).fill('Denied today');
    await filtered.getByRole('button', { name: 'Save', exact: true }).click();
    await filtered.getByText('The view was saved').waitFor();
    const page = await visitor.open(newsroom, '/decisions?range=7d', { as: story.admin });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Denied today', exact: true }).waitFor();
    await expectSoundScreen(page);
    await page.getByRole('menuitem', { name: 'Denied today', exact: true }).click();
    const filters = (): object => Object.fromEntries(new URL(page.url()).searchParams);
    await expect.poll(filters).toEqual({ range: '24h', kind: 'access', allowed: 'false' });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Delete the view Denied today' }).click();
    const views = async (): Promise<unknown> => (await newsroom.call('GET', '/auth/me/views', { token: story.admin.token })).at('data');
    await expect.poll(views).toEqual([]);
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByText('No view is saved').waitFor();
  });

  it('a view has any name, is replaced under its name, and is deleted', async ({ newsroom, visitor }) => {
    const user = await newsroom.user({ name: 'Views', role: 'admin' });
    const page = await visitor.open(newsroom, '/decisions?range=24h', { as: user });
    const saved = async (): Promise<readonly string[]> => {
      const reply = await newsroom.call('GET', '/auth/me/views', { token: user.token });
      return (reply.at('data') as readonly { readonly name: string; readonly version: number }[]).map(
        ({ name, version }) => `${name} ${version}`,
      );
    };
    const save = async (name: string, button: string): Promise<void> => {
      await page.getByRole('button', { name: 'Saved views' }).click();
      await page.getByRole('menuitem', { name: 'Save this view' }).click();
      await page.getByRole('textbox', { name: 'Name of the view' }).fill(name);
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    for (const name of ['Denials/night', '..', '%2F?#', '\u202Eevil 🗞️']) {
      await save(name, 'Save');
      await expect.poll(saved).toEqual([`${name} 1`]);
      await save(name, 'Replace');
      await expect.poll(saved).toEqual([`${name} 2`]);
      await page.getByRole('button', { name: 'Saved views' }).click();
      await page.getByRole('menuitem', { name: /^Delete the view/ }).click();
      await expect.poll(saved).toEqual([]);
    }
  });

  it('a button verifies the hash chains of all entries', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=1h', { as: story.admin });
    await page.getByRole('button', { name: 'Verify integrity' }).click();
    const { at } = await newsroom.call('GET', '/admin/api/decisions/verify', { token: story.admin.token });
    const result = await page.getByText(/ entries verified, none was changed$/).textContent();
    // The page has counted before, and each request adds an entry.
    expect(Number.parseInt(result ?? '', 10)).toBeGreaterThan(5);
    expect(Number.parseInt(result ?? '', 10)).toBeLessThanOrEqual(Number(at('data.entries')));
  });

  it('an export contains the entries that match the filters, as CSV and as NDJSON', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?range=24h&kind=access&allowed=false', { as: story.admin });
    const denied = await newsroom.decisions('kind=access&allowed=false&limit=1000');
    expect(denied.length).toBeGreaterThan(5);
    for (const format of ['CSV', 'NDJSON']) {
      await page.getByRole('button', { name: 'Export' }).click();
      const started = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: format, exact: true }).click();
      const download = await started;
      expect(download.suggestedFilename()).toBe(`decisions.${format.toLowerCase()}`);
      const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
      for (const { id } of denied) expect(lines.filter((line) => line.includes(String(id)))).toHaveLength(1);
      expect(lines).toHaveLength(format === 'CSV' ? denied.length + 1 : denied.length);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });
});
