/** `bailiwick policies apply`, `history` and `rollback`: policies that files manage, and those that the API manages. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type RunningService, startService } from '../harness.ts';
import type { Ended } from './program.ts';
import { runCommand } from './run-command.ts';

const project = mkdtempSync(join(tmpdir(), 'bailiwick-apply-'));
const inFolder = (name: string): string => join(project, 'policies', name);
let service: RunningService;
let email: string;
let token: string;

const policyOf = (name: string, { status = 'published', roles = ['user'] } = {}): string => `name: ${name}
type: ATTRIBUTE_BASED
rules:
  - { resource: Article, action: read, description: they read, conditions: [{ field: resource.status, operator: eq, value: ${status} }] }
roles: [${roles.map((role) => `{ role: ${role} }`).join(', ')}]
`;

const run = (...args: readonly string[]): Promise<Ended> =>
  runCommand([...args, '--project', project, '--data', service.dataFolder, '--database', service.database]);
const apply = (...args: readonly string[]): Promise<Ended> => run('policies', 'apply', '--as', email, ...args);
const applied = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await apply(...args);
  expect(code, err).toBe(0);
  return out;
};
const call = (method: string, path: string, body?: object) => service.call(method, `/admin/api${path}`, { token, ...(body && { body }) });

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly managedBy?: string;
  readonly file?: string;
}

const find = async (name: string): Promise<Listed | undefined> =>
  ((await call('GET', '/policies?limit=100')).at('data') as readonly Listed[]).find((policy) => policy.name === name);
const idOf = async (name: string): Promise<string> => (await find(name))?.id ?? '';

describe('policies that files manage', () => {
  const it = createChain();

  beforeAll(async () => {
    cpSync('examples/newsroom/resources', join(project, 'resources'), { recursive: true });
    mkdirSync(join(project, 'policies'));
    service = await startService({ project });
    ({ email, token } = await service.admin());
    await call('POST', '/policies', { name: 'Desk', type: 'ROLE_BASED', rules: [] });
    await call('POST', '/policies', { name: 'Readers', type: 'ROLE_BASED', rules: [] });
    writeFileSync(inFolder('readers.yaml'), policyOf('Readers'));
    writeFileSync(inFolder('editors.yaml'), policyOf('Editors', { roles: ['user', 'editor'] }));
  });
  afterAll(async () => {
    await service.close();
    rmSync(project, { recursive: true });
  });

  it('policies apply marks the policies of files, also one that the API made, and says so', async () => {
    const out = await applied('--reason', 'first');
    expect(out).toContain('updated policy "Readers"\n');
    expect(out).toContain('the policy is managed by policies/readers.yaml');
    expect(await find('Readers')).toMatchObject({ managedBy: 'files', file: 'policies/readers.yaml' });
    expect(await find('Desk')).not.toHaveProperty('managedBy');
    expect((await call('GET', `/policies/${await idOf('Editors')}/assign/role/editor`)).at('data.managedBy')).toBe('files');
    const [entry] = await service.decisions('resource=Policy&action=apply');
    expect(entry).toMatchObject({ kind: 'admin', facts: { changeReason: 'first' } });
    expect(await applied()).toBe('0 created, 0 updated, 2 unchanged, 0 assigned\n');
  });

  it('the API refuses every change of such a policy and of its assignments to roles with 409, and changes nothing', async () => {
    const id = await idOf('Readers');
    const before = (await call('GET', `/policies/${id}`)).body as {
      readonly data: Listed & { readonly version: number; readonly rules: readonly object[] };
    };
    const whole = { name: 'Readers', type: 'ROLE_BASED', rules: [] };
    const role = `/policies/${id}/assign/role/user`;
    const refused: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['PUT', `/policies/${id}`, { isActive: false }],
      ['DELETE', `/policies/${id}`],
      ['POST', `/policies/${id}/rollback`, { revision: before.data.version, reason: 'try' }],
      ['POST', '/policies/import', { policies: [whole] }],
      ['POST', '/policies/import', { policies: [{ ...before.data, roles: [{ role: 'user', priority: 7 }] }] }],
      ['PUT', role, { priority: 7 }],
      ['DELETE', role],
      ['POST', '/assignments/batch', { changes: [{ op: 'revoke', policyId: id, role: 'user' }] }],
    ];
    for (const [method, path, body] of refused)
      expect(await call(method, path, body), `${method} ${path}`).toMatchObject({ status: 409, body: { code: 'POLICY_MANAGED' } });
    expect((await call('GET', `/policies/${id}`)).body).toEqual(before);
    expect((await call('PUT', `/policies/${id}`, { managedBy: null })).status).toBe(422);
  });

  it('the API assigns such a policy to users and to further roles, and changes those assignments', async () => {
    const id = await idOf('Readers');
    const { id: userId } = await service.user();
    expect((await call('POST', `/policies/${id}/assign/user/${userId}`, {})).status).toBe(201);
    expect((await call('POST', `/policies/${id}/assign/role/viewer`, {})).status).toBe(201);
    expect((await call('DELETE', `/policies/${id}/assign/user/${userId}`)).status).toBe(200);
    expect(await applied('--prune')).toBe('0 created, 0 updated, 2 unchanged, 0 assigned\n');
    expect((await call('GET', `/policies/${id}/assign/role/viewer`)).status).toBe(200);
  });

  it('an import that changes nothing about such a policy is accepted, so an export can be imported', async () => {
    const exported = (await call('GET', '/policies/export')).at('data') as object;
    expect((await call('POST', '/policies/import', exported)).at('data')).toMatchObject({ updated: 0, assigned: 0 });
  });

  it('a file with another name moves its policy, and a policy keeps its id', async () => {
    const id = await idOf('Readers');
    renameSync(inFolder('readers.yaml'), inFolder('public.yaml'));
    expect(await applied()).toContain('the policy is in policies/public.yaml instead of policies/readers.yaml');
    expect(await find('Readers')).toMatchObject({ id, file: 'policies/public.yaml' });
  });

  it('policies apply names what files no longer contain, and leaves it as it is', async () => {
    rmSync(inFolder('public.yaml'));
    writeFileSync(inFolder('editors.yaml'), policyOf('Editors', { roles: ['editor'] }));
    const out = await applied();
    expect(out).toContain('policy "Readers" is no longer in policies/public.yaml: kept');
    expect(out).toContain('the assignment of policy "Editors" to role user is no longer in its file: kept');
    expect(await find('Readers')).toMatchObject({ managedBy: 'files' });
    const { out: compared } = await run('policies', 'diff', '--as', email, '--prune', '--exit-code', '--json');
    expect(JSON.parse(compared)).toMatchObject({
      updated: 0,
      orphanedPolicies: [{ name: 'Readers' }],
      replay: { examined: expect.any(Number) },
    });
  });

  it('policies apply --release leaves the policies without a file to the API', async () => {
    writeFileSync(inFolder('old.yaml'), policyOf('Old'));
    await applied();
    rmSync(inFolder('old.yaml'));
    writeFileSync(inFolder('public.yaml'), policyOf('Readers'));
    expect(await applied('--release')).toContain('policy "Old" is no longer in policies/old.yaml: no longer managed by files');
    const id = await idOf('Old');
    expect((await call('PUT', `/policies/${id}`, { priority: 7 })).status).toBe(200);
    expect((await call('DELETE', `/policies/${id}/assign/role/user`)).status).toBe(200);
    expect((await call('DELETE', `/policies/${await idOf('Editors')}/assign/role/user`)).status).toBe(200);
  });

  it('policies apply --prune deletes what files no longer contain, and none of the policies that the API made', async () => {
    rmSync(inFolder('public.yaml'));
    writeFileSync(inFolder('editors.yaml'), policyOf('Editors', { roles: [] }));
    const epoch = async () => Number((await call('GET', '/policies/history?limit=1')).at('data.0.revision'));
    const before = await epoch();
    expect((await apply('--prune')).err).toContain('--yes');
    expect(await find('Readers')).toBeDefined();
    const preview = (await apply('--prune', '--dry-run')).out;
    expect(preview).toContain('policy "Readers" is no longer in policies/public.yaml: would be deleted');
    expect(preview).toMatch(/the assignment of policy "Editors" to role editor is no longer in its file: would be removed/);
    const out = await applied('--prune', '--yes');
    expect(out).toContain('policy "Readers" is no longer in policies/public.yaml: deleted');
    expect([await find('Readers'), (await find('Desk'))?.name, (await find('Old'))?.name]).toEqual([undefined, 'Desk', 'Old']);
    expect((await call('GET', `/policies/${await idOf('Editors')}/assign/role/editor`)).status).toBe(404);
    expect(await epoch(), 'all changes are one revision').toBe(before + 1);
  });

  it('an application with a mistake changes nothing, also nothing that it would delete', async () => {
    writeFileSync(inFolder('broken.yaml'), policyOf('Broken', { status: 'publishd' }));
    rmSync(inFolder('editors.yaml'));
    const { code, err } = await apply('--prune', '--yes');
    expect([code, err]).toEqual([2, expect.stringContaining('policies/broken.yaml:4:')]);
    expect(await find('Editors')).toBeDefined();
    rmSync(inFolder('broken.yaml'));
    writeFileSync(inFolder('editors.yaml'), policyOf('Editors', { roles: ['editor'] }));
  });

  it('two applications at once create each policy once', async () => {
    writeFileSync(inFolder('twice.yaml'), policyOf('Twice'));
    const results = await Promise.all([apply(), apply()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(results.map(({ out }) => /(\d) created/.exec(out)?.[1]).toSorted()).toEqual(['0', '1']);
  });

  it('policies history prints every difference of the changes of a policy, by its name', async () => {
    writeFileSync(inFolder('twice.yaml'), policyOf('Twice', { status: 'draft' }));
    await applied('--reason', 'drafts too');
    const { out } = await run('policies', 'history', 'Twice');
    expect(out).toMatch(/^revision \d+, \S+: updated "Twice" by .* \(drafts too\)\n {2}rule "they read" requires .*draft/);
    const [newest] = (await run('policies', 'history', 'Twice', '--json', '--limit', '1')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(newest).toMatchObject({ change: 'updated', differences: [{ kind: 'changed' }] });
    expect((await run('policies', 'history', 'Nothing')).code).toBe(1);
  });

  const rollback = (...args: readonly string[]): Promise<Ended> => run('policies', 'rollback', '--as', email, '--reason', 'wrong', ...args);
  const revisionsOf = async (name: string): Promise<readonly number[]> =>
    ((await call('GET', `/policies/${await idOf(name)}/history`)).at('data') as readonly { revision: number; subject: string }[])
      .filter(({ subject }) => subject === 'policy')
      .map(({ revision }) => revision);

  it('policies rollback refuses a policy that a file manages, and prints the differences', async () => {
    const [present = 0, first = 0] = await revisionsOf('Twice');
    const { code, out, err } = await rollback('Twice', '--to', String(first));
    expect([code, out, err]).toEqual([
      1,
      expect.stringContaining('rule "they read" requires'),
      expect.stringContaining('policies/twice.yaml'),
    ]);
    expect((await revisionsOf('Twice'))[0]).toBe(present);
  });

  it('policies rollback restores a version of another policy, once it is not a dry run', async () => {
    const created = (await revisionsOf('Desk')).at(-1) ?? 0;
    await call('PUT', `/policies/${await idOf('Desk')}`, { priority: 9 });
    const [changed = 0] = await revisionsOf('Desk');
    const dry = await rollback('Desk', '--to', String(created), '--dry-run');
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('the policy has priority 100 instead of 9')]);
    expect((await revisionsOf('Desk'))[0]).toBe(changed);
    const { code, out } = await rollback('Desk', '--to', String(created));
    expect([code, out]).toEqual([0, expect.stringContaining(`rolled back policy "Desk" to revision ${created}`)]);
    expect((await run('policies', 'history', 'Desk')).out).toMatch(
      new RegExp(`^revision \\d+, \\S+: updated "Desk" by .*, rolled back to revision ${created} \\(wrong\\)\n`),
    );
    expect((await call('GET', `/policies/${await idOf('Desk')}`)).at('data.priority')).toBe(100);
  });

  it('a dry run of policies rollback prints what the rollback then does, with the assignments', async () => {
    const created = (await revisionsOf('Desk'))[0] ?? 0;
    const { id: userId, email: member } = await service.user();
    for (const path of [`user/${userId}`, 'role/viewer']) await call('POST', `/policies/${await idOf('Desk')}/assign/${path}`, {});
    const request = ['Desk', '--to', String(created), '--assignments'];
    expect((await rollback(...request, '--dry-run')).out).toBe(
      [
        'the assignment to role viewer would be revoked',
        `the assignment to ${member} would be revoked`,
        `rolled back policy "Desk" to revision ${created}, revoked 2 assignments; a dry run, nothing was stored\n`,
      ].join('\n'),
    );
    const previewed = JSON.parse((await rollback(...request, '--dry-run', '--json')).out);
    const { out } = await rollback(...request, '--json');
    const assignments = [
      { outcome: 'revoked', role: 'viewer' },
      { outcome: 'revoked', userId, email: member },
    ];
    expect([previewed, JSON.parse(out)]).toMatchObject([{ dryRun: true, assignments }, { assignments }]);
    expect((await rollback(...request)).out).toContain(`policy "Desk" is as at revision ${created}\n`);
  });

  it('a dry run of policies rollback refuses what the rollback refuses: an unknown admin', async () => {
    const [revision = 0] = await revisionsOf('Desk');
    const request = ['policies', 'rollback', 'Desk', '--to', String(revision), '--as', 'nobody@example.com'];
    expect(await run(...request, '--dry-run')).toEqual({ ...(await run(...request, '--reason', 'wrong')), code: 1, out: '' });
  });

  it('a rollback of a deleted policy of a file restores it without its manager', async () => {
    const readers = (
      (await call('GET', '/policies/history?limit=100')).at('data') as readonly {
        change: string;
        subject: string;
        policy: { id: string; name: string };
        revision: number;
      }[]
    ).find(({ change, subject, policy }) => change === 'deleted' && subject === 'policy' && policy.name === 'Readers');
    const { code, err } = await rollback(readers?.policy.id ?? '', '--to', String((readers?.revision ?? 0) - 1));
    expect(code, err).toBe(0);
    const restored = await find('Readers');
    expect([restored?.id, restored]).toEqual([readers?.policy.id, expect.not.objectContaining({ managedBy: 'files' })]);
    expect(await applied('--prune', '--yes')).not.toContain('"Readers"');
  });

  it.each([['x'], ['0'], ['99999']])('policies rollback refuses the revision %j', async (revision) => {
    expect((await rollback('Desk', '--to', revision)).code).not.toBe(0);
  });
});
