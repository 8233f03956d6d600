/** `bailiwick policies diff`: what the policies in files would change, and which recorded decisions; `policies assign` and `unassign`. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain } from '../chain.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import type { Ended } from './program.ts';
import { runCommand } from './run-command.ts';

const project = mkdtempSync(join(tmpdir(), 'bailiwick-diff-'));
const file = join(project, 'policies/readers.yaml');
let service: RunningService;
let email: string;

const policyOf = (status: string): string => `name: Readers
type: ATTRIBUTE_BASED
rules:
  - resource: Article
    action: read
    description: readers read
    conditions: [{ field: resource.status, operator: eq, value: ${status} }]
roles: [{ role: user }]
`;

beforeAll(async () => {
  cpSync('examples/newsroom/resources', join(project, 'resources'), { recursive: true });
  mkdirSync(join(project, 'policies'));
  writeFileSync(file, policyOf('published'));
  service = await startService({ project });
  email = (await service.admin()).email;
});
afterAll(async () => {
  await service.close();
  rmSync(project, { recursive: true });
});

const chained = createChain();

const run = (...args: readonly string[]): Promise<Ended> =>
  runCommand([...args, '--project', project, '--data', service.dataFolder, '--database', service.database, '--as', email]);

chained('policies diff names the policies to create, then those that differ, with the decisions that would change', async () => {
  const created = await run('policies', 'diff', '--exit-code');
  expect([created.code, created.out]).toEqual([1, expect.stringContaining('would create policy "Readers"')]);
  expect(created.out).toContain('  assigned to role user: active, priority 100, managed by files\n1 to create');
  expect((await run('policies', 'apply')).code).toBe(0);
  expect(await run('policies', 'diff', '--exit-code')).toMatchObject({
    code: 0,
    out: '0 to create, 0 to update, 1 unchanged, 0 to assign\n',
  });

  const { id, token } = await service.user();
  const article = { title: 'A budget', slug: 'a-budget', status: 'published', authorId: id };
  const published = await service.createRecord('Article', article);
  const draft = await service.createRecord('Article', { ...article, slug: 'a-draft', status: 'draft' });
  for (const record of [published, published, draft]) await service.call('GET', `/api/Article/${record}`, { token });

  writeFileSync(file, policyOf('draft'));
  const before = await service.decisions('kind=access');
  const { out } = await run('policies', 'diff', '--json');
  const { updated, changes, replay } = JSON.parse(out);
  expect([updated, changes[0].name, changes[0].differences.length]).toEqual([1, 'Readers', 1]);
  expect(replay).toMatchObject({ allowToDeny: 2, denyToAllow: 1, changed: 0, isPartial: false });
  expect(replay.examined).toBe(before.length);
  const printed = (await run('policies', 'diff')).out;
  expect(printed).toContain('allow → deny, 2 ×: user read Article');
  expect(printed).toContain('deny → allow, 1 ×: user read Article');
  // Nothing was stored.
  expect((await service.call('GET', `/api/Article/${published}`, { token })).status).toBe(200);
  expect(JSON.parse((await run('policies', 'diff', '--json', '--entries', '1')).out).replay).toMatchObject({
    examined: 1,
    isPartial: true,
  });
  expect(readFileSync(file, 'utf8')).toBe(policyOf('draft'));
});

chained('policies diff reads the assignments of an export, and takes an inactive one for a removed one', async () => {
  const { email: assignedBy } = await service.admin();
  const diffWith = async (...roles: readonly string[]): Promise<unknown> => {
    writeFileSync(file, policyOf('draft').replace('{ role: user }', roles.join(', ')));
    const { out, err } = await run('policies', 'diff', '--json');
    expect(err).toBe('');
    return JSON.parse(out);
  };
  const active = await diffWith(`{ role: user, isActive: true, assignedBy: ${assignedBy} }`);
  expect(active).toMatchObject({ updated: 1, assigned: 0, replay: { allowToDeny: 3, denyToAllow: 1 } });
  const inactive = await diffWith('{ role: user, isActive: false }', '{ role: editor, isActive: false }');
  expect(inactive).toMatchObject({ updated: 1, assigned: 2, replay: { allowToDeny: 3, denyToAllow: 0 } });
});

chained('policies diff compares the priority of an assignment that its file no longer states with the default', async () => {
  const blocked = `name: Blocked
type: ROLE_BASED
rules: [{ resource: Article, action: read, effect: DENY }]
roles: [{ role: user, priority: 50 }]
`;
  const other = join(project, 'policies/blocked.yaml');
  writeFileSync(other, blocked);
  writeFileSync(file, policyOf('published').replace('role: user', 'role: user, priority: 60'));
  expect((await run('policies', 'apply')).code).toBe(0);
  writeFileSync(other, blocked.replace(', priority: 50', ''));
  writeFileSync(file, policyOf('published'));
  const { assigned, replay } = JSON.parse((await run('policies', 'diff', '--json')).out);
  expect([assigned, replay.allowToDeny]).toEqual([2, 3]);
  expect((await run('policies', 'diff')).out).toContain(
    'would change the assignments of policy "Blocked"\n  changed the assignment to role user: priority 100\n',
  );
  rmSync(other);
});

chained('policies diff --prune accepts that a file no longer lists an inactive assignment', async () => {
  writeFileSync(file, policyOf('published').replace('{ role: user }', '{ role: user }, { role: viewer, isActive: false }'));
  expect((await run('policies', 'apply', '--prune', '--yes')).code).toBe(0);
  writeFileSync(file, policyOf('published'));
  const { out, err } = await run('policies', 'diff', '--prune', '--json');
  expect(err).toBe('');
  const orphanedRoles = [{ policy: 'Readers', role: 'viewer' }];
  expect(JSON.parse(out)).toMatchObject({ orphanedRoles, replay: { allowToDeny: 0, denyToAllow: 0 } });
});

it.each([
  [['--entries', '0'], '--entries'],
  [['--since', 'yesterday'], '--since: expected a date such as'],
])('policies diff refuses %j', async (flags, message) => {
  const { code, err } = await run('policies', 'diff', ...flags);
  expect([code === 0, err]).toEqual([false, expect.stringContaining(message)]);
});

describe('policies assign', () => {
  const assign = (...args: readonly string[]): Promise<Ended> => run('policies', 'assign', ...args);
  const unassign = (...args: readonly string[]): Promise<Ended> => run('policies', 'unassign', ...args);
  const policy = 'Borrowed';
  let id: string;
  let member: TestUser;

  beforeAll(async () => {
    id = await service.createPolicy({ name: policy, rules: [{ resource: 'Tip', action: 'list' }] });
    member = await service.user();
  });

  const assignment = async (): Promise<unknown> => {
    const { token } = await service.admin();
    const { body } = await service.call('GET', `/admin/api/policies/${id}/assign/user/${member.id}`, { token });
    return (body as { readonly data?: unknown }).data ?? null;
  };
  const canList = async (): Promise<boolean> => (await service.call('GET', '/api/Tip', { token: member.token })).status === 200;

  it('assigns a policy to a user until a time, changes the time, and removes the assignment', async () => {
    const { out } = await assign(policy, '--user', member.email, '--expires', '2990-01-31', '--reason', 'trial');
    expect(out).toBe(`policy "${policy}" is assigned to ${member.email} until 2990-01-31T00:00:00.000Z\n`);
    expect(await canList()).toBe(true);
    const again = await assign(id, '--user', member.email.toUpperCase());
    expect(again).toMatchObject({ code: 0, out: `policy "${policy}" is assigned to ${member.email} already\n` });
    expect(await assignment()).toMatchObject({ expiresAt: '2990-01-31T00:00:00.000Z', version: expect.any(Number) });
    await assign(policy, '--user', member.email, '--expires', 'never');
    expect(await assignment()).not.toHaveProperty('expiresAt');
    const { code, out: removed } = await unassign(policy, '--user', member.email, '--reason', 'moved away');
    expect([code, removed]).toEqual([0, `policy "${policy}" is no longer assigned to ${member.email}\n`]);
    expect([await canList(), await assignment()]).toEqual([false, null]);
    const [entry] = await service.decisions('resource=UserPolicy&action=delete');
    expect(entry).toMatchObject({ kind: 'admin', facts: { changeReason: 'moved away' } });
  });

  it('assigns a policy to a role, and removes the assignment', async () => {
    expect((await assign(policy, '--role', 'user')).out).toBe(`policy "${policy}" is assigned to role user\n`);
    expect(await canList()).toBe(true);
    expect((await unassign(policy, '--role', 'user')).code).toBe(0);
    expect(await canList()).toBe(false);
  });

  it.each([
    [['Borowed', '--user', 'ada@example.com'], 1, /no policy has the name or id "Borowed" \(did you mean "Borrowed"\?\)/],
    [[policy, '--user', 'unknown@example.com'], 1, /no user has the email "unknown@example.com"/],
    [[policy], 2, /expected either --user with an email or --role, given none/],
    [[policy, '--user', 'a@example.com', '--role', 'user'], 2, /given both/],
    [[policy, '--role', 'usr'], 2, /--role: expected one of .*given "usr"/],
    [[policy, '--role', 'user', '--expires', '2990-01-01'], 2, /--expires: assignments to roles do not end/],
    [[policy, '--user', 'a@example.com', '--expires', 'tomorrow'], 2, /--expires: expected a date/],
    [[policy, '--user', 'a@example.com', '--expires', '2001-01-01'], 2, /--expires: expected a time in the future/],
  ])('refuses to assign %j', async (args, code, message) => {
    expect(await assign(...args)).toEqual({ code, out: '', err: expect.stringMatching(message) });
  });

  it('refuses to remove an assignment that does not exist', async () => {
    expect(await unassign(policy, '--user', member.email)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`is not assigned to ${member.email}`),
    });
  });
});
