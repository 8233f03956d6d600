import { deflateRawSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Reply } from '../harness.ts';
import { type ConsoleService, it as register, startConsole } from './console.fixture.ts';
import { WINDOW_SIZES } from './console-browser.ts';
import { expectInertText, findSidewaysScroll } from './screen-checks.ts';

const IMAGE = '<img src=x onerror="globalThis.attacked=1">';
const MARKUP = `${IMAGE}</script><script>globalThis.attacked=1</script>`;
const LINK = 'javascript:globalThis.attacked=1';
/** A text without a place to break it. */
const LONG = 'w'.repeat(10_000);
/** Characters that reverse the order of the text, that have no width, and that colour a terminal. */
const INVISIBLE = 'a\u202Eb\u2066c\u200B\u200D\uFEFFd';
const TERMINAL = '\u001B[31mred\u001B]8;;https://attacker.example\u0007link';

const DEFINITION = `name: Thing
fields:
  title: { type: text, required: true }
  link: { type: string }
  note: { type: text }
  tags: { type: list, of: text }
  more: { type: json }
`;

/** A service in which every text that an admin or user can write is hostile. */
interface Hostile {
  readonly service: ConsoleService;
  readonly userId: string;
  readonly policyId: string;
  readonly recordId: string;
  readonly entryId: string;
}

const it = register.extend('hostile', { scope: 'file' }, async ({ project: _project }, { onCleanup }): Promise<Hostile> => {
  const service = await startConsole({ definitions: { 'Thing.yaml': DEFINITION } });
  onCleanup(() => service.close());
  const { token } = await service.admin();
  const send = async (method: string, path: string, body: object): Promise<Reply> => {
    const reply = await service.call(method, path, { token, body });
    expect([200, 201], `${method} ${path}: ${reply.text.slice(0, 500)}`).toContain(reply.status);
    return reply;
  };
  const email = `{onerror=alert}'${'o'.repeat(45)}@${'long-domain.'.repeat(12)}example`;
  const user = await service.user({ name: `${INVISIBLE}${'n'.repeat(150)}` });
  await send('PUT', `/api/User/${user.id}`, { email });
  const record = {
    title: MARKUP + LONG,
    link: LINK,
    note: TERMINAL + LONG,
    tags: [LINK, LONG, MARKUP],
    more: { [MARKUP]: [LONG, INVISIBLE] },
  };
  const recordId = await service.createRecord('Thing', record);
  const rules = [
    {
      ...{ resource: 'Thing', action: 'read', description: MARKUP + 'd'.repeat(400) },
      conditions: [{ field: 'resource.title', operator: 'in', value: [MARKUP, LONG.slice(0, 900)] }],
    },
    {
      resource: 'Thing',
      action: 'list',
      description: `${INVISIBLE}${'e'.repeat(400)}`,
      conditions: [{ field: 'resource.link', operator: 'eq', value: LINK }],
    },
  ];
  const policy = {
    name: MARKUP + 'p'.repeat(90),
    type: 'CUSTOM',
    description: LONG.slice(0, 1900),
    tags: [LINK, 't'.repeat(100), INVISIBLE],
  };
  const created = await send('POST', '/admin/api/policies', { ...policy, rules, reason: MARKUP + 'r'.repeat(300) });
  const policyId = String(created.at('data.id'));
  await send('PUT', `/admin/api/policies/${policyId}`, { description: MARKUP + 'c'.repeat(1800), reason: `${LINK} ${INVISIBLE}` });
  await send('POST', `/admin/api/policies/${policyId}/assign/user/${user.id}`, {});
  for (const name of [IMAGE, 'v'.repeat(100), LINK])
    await send('PUT', `/auth/me/views?name=${encodeURIComponent(name)}`, { screen: 'decisions', query: { range: '1h' } });
  await send('POST', `/admin/api/policies/${policyId}/assign/role/viewer`, {});
  const { email: adminEmail, password } = await service.admin();
  const login = { body: { email: adminEmail, password }, headers: { 'user-agent': `${IMAGE} ${'u'.repeat(300)}` } };
  expect((await service.call('POST', '/auth/login', login)).status).toBe(200);
  const denied = await service.call('GET', `/api/Thing/${recordId}`, { token: user.token });
  return { service, userId: user.id, policyId, recordId, entryId: String(denied.headers['x-decision-id']) };
});

/** Requires that the present screen shows the texts as texts, and does not scroll sideways on a desktop and a phone. */
async function expectInert(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const size of [WINDOW_SIZES.desktop, WINDOW_SIZES.phone]) {
    await page.setViewportSize(size);
    for (const text of texts) await expectInertText(page, text);
    // The page gets its layout for the size a moment later.
    await expect.poll(() => findSidewaysScroll(page), { message: `at ${page.url()}, ${size.width} px`, timeout: 5000 }).toEqual([]);
  }
  await page.setViewportSize(WINDOW_SIZES.desktop);
}

describe('hostile values', () => {
  const screens: Readonly<Record<string, readonly [path: (hostile: Hostile) => string, ...texts: readonly string[]]>> = {
    'the list of policies': [() => '/policies', MARKUP, LINK],
    'a policy and its rules': [({ policyId }) => `/policies/${policyId}?at=rules.0`, MARKUP],
    'the history of a policy': [({ policyId }) => `/policies/${policyId}?tab=history`, LINK, MARKUP],
    'the assignments of a policy': [({ policyId }) => `/policies/${policyId}?tab=assignments`, 'nnnn'],
    'the findings': [() => '/findings'],
    'the changes of policies': [() => '/policies/changes', MARKUP],
    'the assignments': [() => '/assignments', MARKUP],
    'the users': [() => '/users', 'oooo'],
    'a user': [({ userId }) => `/users/${userId}`, 'oooo', MARKUP],
    'the records': [() => '/data/Thing', MARKUP, LINK],
    'a record': [({ recordId }) => `/data/Thing/${recordId}`, MARKUP],
    'a decision': [({ entryId }) => `/decisions/${entryId}`, MARKUP],
    'the access of a user': [({ userId }) => `/access?tab=permissions&user=${userId}`],
    'the simulator': [({ userId, recordId }) => `/simulator?user=${userId}&resource=Thing&action=read&id=${recordId}`, MARKUP],
    'the users who can read records': [() => '/access?tab=whoCan&resource=Thing&action=read', MARKUP],
    'the roles': [() => '/roles', MARKUP],
    'the sessions of an account': [() => '/account', IMAGE],
    'the overview': [() => '/'],
  };

  it.for(Object.entries(screens))('%s: hostile texts are shown as texts', async ([, [path, ...texts]], { hostile, visitor }) => {
    const page = await visitor.open(hostile.service, path(hostile), { as: await hostile.service.admin() });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await expectInert(page, ...texts);
  });

  it('the differences of versions and of a draft are shown as texts', async ({ hostile, visitor }) => {
    const { service, policyId } = hostile;
    const page = await visitor.open(service, `/policies/${policyId}?tab=history`, { as: await service.admin() });
    await page.getByRole('button', { name: 'Show the differences from the current revision' }).click();
    await page.getByText('changed', { exact: true }).first().waitFor();
    await expectInert(page, IMAGE);
    await page.goto(`${service.console}/policies/${policyId}`);
    await page
      .getByRole('textbox', { name: 'Description' })
      .first()
      .fill(`${INVISIBLE}${IMAGE}${'f'.repeat(1500)}`);
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await expectInert(page, IMAGE);
  });

  it('the preview of a draft and its traces are shown as texts', async ({ hostile, visitor }) => {
    const { service, policyId } = hostile;
    const rules = [{ resource: 'Thing', action: 'read', description: MARKUP }];
    const draft = deflateRawSync(JSON.stringify({ policies: [{ id: policyId, rules }] })).toString('base64url');
    const page = await visitor.open(service, `/preview?range=24h#draft=${draft}`, { as: await service.admin() });
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Show both traces' }).first().click();
    await page.getByRole('dialog').getByText(IMAGE).first().waitFor();
    await expectInert(page, MARKUP);
  });

  it('the merge of two versions of a policy is shown as texts', async ({ hostile, visitor }) => {
    const { service } = hostile;
    const { token } = await service.admin();
    const id = await service.createPolicy({ name: 'merged', rules: [{ resource: 'Thing', action: 'export' }] });
    const page = await visitor.open(service, `/policies/${id}`, { as: await service.admin() });
    await page
      .getByRole('textbox', { name: 'Description' })
      .first()
      .fill(`${IMAGE}${'m'.repeat(900)}`);
    const theirs = { description: `${LINK} ${INVISIBLE}${LONG.slice(0, 900)}` };
    await service.call('PUT', `/admin/api/policies/${id}`, { token, body: theirs });
    visitor.allow(/^response 412: PUT/);
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('This changes:').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('radiogroup', { name: 'Version of description' }).waitFor();
    // Values are shown as JSON.
    await expectInert(page, '<img src=x', LINK);
  });

  it('the conflict of a record is shown as texts', async ({ hostile, visitor }) => {
    const { service } = hostile;
    const { token } = await service.admin();
    const id = await service.createRecord('Thing', { title: 'one of two' });
    const page = await visitor.open(service, `/data/Thing/${id}`, { as: await service.admin() });
    await page.getByRole('textbox', { name: 'title', exact: true }).fill(MARKUP + LONG);
    await service.call('PUT', `/api/Thing/${id}`, { token, body: { title: `${LINK}${LONG}` } });
    visitor.allow(/^response 412: PUT/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('radiogroup', { name: 'Value of title' }).waitFor();
    await expectInert(page, MARKUP, LINK);
  });

  it('the columns and the rejected rows of an import, and the differences of imported policies are shown as texts', async ({
    hostile,
    visitor,
  }) => {
    const { service } = hostile;
    const page = await visitor.open(service, '/data/Thing', { as: await service.admin() });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const rows = [
      { [MARKUP]: LINK, [LONG.slice(0, 500)]: 1, title: 'imported' },
      { title: 7, more: { [IMAGE]: LINK } },
    ];
    const fileOf = (name: string, lines: readonly unknown[]) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
    });
    await page.locator('input[type="file"]').setInputFiles(fileOf(`${IMAGE.replaceAll('/', '')}${'f'.repeat(100)}.ndjson`, rows));
    await page.getByRole('heading', { name: 'Columns of the file' }).waitFor();
    await page.getByRole('button', { name: 'Try without changing anything' }).click();
    await page.getByRole('table', { name: 'Rejected rows' }).waitFor();
    await expectInert(page, MARKUP);
    await page.goto(`${service.console}/policies/import`);
    const policy = { name: `${IMAGE} imported`, type: 'CUSTOM', description: MARKUP + LONG.slice(0, 900), tags: [LINK] };
    const policies = { policies: [{ ...policy, rules: [{ resource: 'Thing', action: 'read', description: `${INVISIBLE}${MARKUP}` }] }] };
    await page.locator('input[type="file"]').setInputFiles(fileOf('policies.json', [policies]));
    await page.getByRole('button', { name: 'Check without storing' }).click();
    await page.getByText('Nothing was stored.').waitFor();
    await expectInert(page, IMAGE, LINK);
  });

  it('the drawer of a decision and the saved views are shown as texts', async ({ hostile, visitor }) => {
    const { service, userId, entryId } = hostile;
    const page = await visitor.open(service, `/decisions?range=1h&userId=${userId}&entry=${entryId}`, { as: await service.admin() });
    await page.getByRole('dialog', { name: 'Decision' }).getByText('Rules, in the order of evaluation').waitFor();
    await expectInert(page, MARKUP);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: LINK, exact: true }).waitFor();
    await expectInert(page, LINK, IMAGE);
  });
});
