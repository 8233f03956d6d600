import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { it, startConsole } from './console.fixture.ts';
import { WINDOW_SIZES } from './console-browser.ts';
import { expectSoundScreen, findSidewaysScroll } from './screen-checks.ts';

/** Removes the marks that isolate names in a sentence. */
const plain = (text: string | null) => text?.replaceAll(/[\u2066-\u2069]/g, '');

describe('the screens of the service', () => {
  it('the system screen shows the figures of the API, and finds a setting', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/system', { as: story.admin });
    const cellOf = (name: string) =>
      page
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
        .getByRole('cell');
    await cellOf('Database').waitFor();
    const { at } = await newsroom.call('GET', '/admin/api/system', { token: story.admin.token });
    await expect.poll(() => cellOf('Node.js').textContent()).toBe(at('data.node'));
    await expect.poll(() => cellOf('Revision of the policies').textContent()).toBe(String(at('data.revision')));
    await expect.poll(() => cellOf('Database').textContent()).toBe(`${at('data.database.kind')} ${at('data.database.version')}`);
    await expect.poll(() => cellOf('Size of the database').textContent()).toMatch(/^[\d.]+ [KMG]iB$/);
    await page.getByRole('textbox', { name: 'Search settings' }).fill('logLevel');
    await expect.poll(() => new URL(page.url()).search).toBe('?search=logLevel');
    const settings = page.getByRole('table', { name: 'Settings' }).locator('tbody tr');
    await expect.poll(() => settings.count()).toBe(1);
    await expect.poll(() => settings.textContent()).toMatch(/logLevel.*silent.*command line/);
  });

  it('the overview shows the figures of the API, and each leads to what it counts', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: story.admin });
    const denied = page.getByRole('main').getByRole('link', { name: 'Denied', exact: true });
    await denied.waitFor();
    const { at } = await newsroom.call('GET', '/admin/api/policies-analytics?timeframe=7d', { token: story.admin.token });
    expect(at('data.accessDenials')).toBeGreaterThan(5);
    const tile = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).locator('..');
    await expect.poll(() => tile('Denied').textContent()).toBe(`Denied${at('data.accessDenials')}`);
    await expect.poll(() => tile('Allowed').textContent()).toBe(`Allowed${Number(at('data.accessGrants')).toLocaleString('en-US')}`);
    const policies = `Active policies${at('data.activePolicies')}of ${at('data.totalPolicies')}`;
    await expect.poll(async () => plain(await tile('Active policies').textContent())).toBe(policies);
    const findings = await newsroom.call('GET', '/admin/api/policies-advice', { token: story.admin.token });
    await expect
      .poll(() => tile('Findings').textContent())
      .toBe(`Findings${findings.at('count')}${findings.at('nextCursor') === undefined ? '' : '+'}`);
    const system = await newsroom.call('GET', '/admin/api/system', { token: story.admin.token });
    expect(system.at('data.checks')).not.toContainEqual(expect.objectContaining({ ok: false }));
    await expect.poll(() => tile('Health').textContent()).toBe('Health✓ready');
    await denied.click();
    await page.getByText(`${at('data.accessDenials')} entries, without`).waitFor();
  });

  it('the overview of a service that does not answer says so instead of its last state', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/', { as: story.admin });
    const main = page.getByRole('main');
    await main.getByText('ready', { exact: true }).waitFor();
    visitor.allow(/^request failed: GET .*\/(system|policies-advice)/);
    for (const path of ['system', 'policies-advice*'])
      await page.route(`**/admin/api/${path}`, (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await main.getByText('no answer', { exact: true }).waitFor();
    expect(await main.getByText('ready', { exact: true }).count()).toBe(0);
    await page.reload();
    await main.getByRole('alert').waitFor();
    await expectSoundScreen(page);
    await page.unrouteAll({ behavior: 'wait' });
    await main.getByRole('alert').getByRole('button', { name: 'Retry' }).click();
    await main.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('a chart accepts a browser whose language is not valid, and does not widen a narrower page', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/system', { as: story.admin });
    // A page of its own, because later tests use the first one.
    const other = await page.context().newPage();
    try {
      // The language of Chromium with LANG=C.
      await other.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true }));
      await other.goto(`${newsroom.url}/console/`);
      await other.locator('.uplot canvas').first().waitFor();
      // A narrower window: the chart has its old width until a frame is drawn.
      await other.evaluate('globalThis.requestAnimationFrame = () => 0');
      await other.setViewportSize(WINDOW_SIZES.phone);
      expect(await findSidewaysScroll(other)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('the storage screen shows the performed migrations with their steps', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/storage', { as: story.admin });
    await page.getByText('The tables match the definition files').waitFor();
    const { at } = await newsroom.call('GET', '/admin/api/storage/history', { token: story.admin.token });
    const migrations = at('data') as readonly { readonly steps: readonly { readonly reason: string }[] }[];
    const rows = page.getByRole('table', { name: 'Performed migrations' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(migrations.length);
    const [first] = migrations;
    // The first migration has many steps.
    await rows
      .first()
      .getByText(/ more steps$/)
      .click();
    expect(first?.steps.length).toBeGreaterThan(8);
    for (const { reason } of first?.steps ?? []) await rows.first().getByText(reason).first().waitFor();
  });

  it('the storage screen shows the plan as a diff of each table, with the rules that use a removed field', async ({
    visitor,
    onTestFinished,
  }) => {
    const before = 'name: Note\nfields:\n  text: { type: string }\n  legacy: { type: string }\n';
    const service = await startConsole({ definitions: { 'Note.yaml': before } });
    onTestFinished(() => service.close());
    const conditions = [{ field: 'resource.legacy', operator: 'eq', value: 'x' }];
    await service.createPolicy({ name: 'Old notes', role: 'user', rules: [{ resource: 'Note', action: 'read', conditions }] });
    const files = join(dirname(service.dataFolder), 'project', 'resources');
    writeFileSync(join(files, 'Note.yaml'), 'name: Note\nfields:\n  text: { type: text }\n  summary: { type: string }\n');
    writeFileSync(join(files, 'Topic.yaml'), 'name: Topic\nfields:\n  title: { type: string }\n');
    const page = await visitor.open(service, '/storage', { as: await service.admin(), isolated: true });
    const note = page.getByRole('region', { name: 'Note' });
    await note.getByText('changes', { exact: false }).first().waitFor();
    const lineOf = (name: string) => note.getByRole('listitem').filter({ hasText: name }).first();
    await expect.poll(() => lineOf('summary').getAttribute('data-change')).toBe('added');
    await expect.poll(() => lineOf('legacy').getAttribute('data-change')).toBe('removed');
    await note.getByRole('link', { name: /Old notes/ }).waitFor();
    await lineOf('summary').getByText('SQL').click();
    await lineOf('summary')
      .getByText(/ALTER TABLE/i)
      .waitFor();
    await page.getByRole('region', { name: 'Topic' }).getByText('new table').waitFor();
    await expectSoundScreen(page);
  });
});
