/** The preview of a draft warns if admins would lose access to records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

let service: RunningService;
let admin: { readonly id: string; readonly token: string };
let fullAccess: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n' } });
  admin = await service.admin();
  const found = await service.call('GET', '/admin/api/policies?search=Administrators', { token: admin.token });
  fullAccess = String(found.at('data.0.id'));
});
afterAll(() => service.close());

interface Warning {
  readonly code: string;
  readonly detail: string;
  readonly permissions: readonly { readonly resource: string; readonly action: string }[];
}
const preview = async (draft: object, others: object = {}): Promise<readonly Warning[]> => {
  const reply = await service.call('POST', '/admin/api/policies/preview', { token: admin.token, body: { draft, ...others } });
  expect(reply.status, reply.text).toBe(200);
  return (reply.at('warnings') ?? []) as readonly Warning[];
};
const codes = async (draft: object) => (await preview(draft)).map(({ code }) => code);
const named = (resource: string, action: string, effect = 'DENY') => ({
  policies: [{ name: `draft ${resource} ${action}`, type: 'ROLE_BASED', rules: [{ resource, action, effect, priority: 900 }] }],
});
const assignedTo = (assignee: object) => ({ assignments: [{ policyId: 'draft:0', ...assignee }] });

describe('the warnings of a preview', () => {
  it('every action is lost without the policy of full access', async () => {
    const warnings = await preview({ removePolicies: [fullAccess] });
    expect(warnings.map(({ code }) => code)).toEqual(['own-access', 'admin-access']);
    for (const { permissions } of warnings) {
      expect(permissions).toHaveLength(14);
      expect(permissions).toContainEqual({ resource: 'User', action: 'update' });
    }
  });

  it('a DENY for the role names the actions that it ends', async () => {
    const warnings = await preview({ ...named('User', 'delete'), ...assignedTo({ role: 'admin' }) });
    expect(warnings.map(({ code, permissions }) => [code, permissions])).toEqual([
      ['own-access', [{ resource: 'User', action: 'delete' }]],
      ['admin-access', [{ resource: 'User', action: 'delete' }]],
    ]);
    expect(warnings[0]?.detail).toBe('with the draft, you are denied delete on User, which the policies in force do not deny');
  });

  it('a DENY for one admin concerns this admin alone', async () => {
    expect(await codes({ ...named('*', '*'), ...assignedTo({ userId: admin.id }) })).toEqual(['own-access']);
    const other = await service.user({ role: 'admin' });
    expect(await codes({ ...named('*', '*'), ...assignedTo({ userId: other.id }) })).toEqual([]);
  });

  it('an admin with an assignment of their own keeps access that the role loses', async () => {
    const own = { assignments: [{ policyId: fullAccess, userId: admin.id }] };
    expect(await codes({ ...own, removeAssignments: [{ policyId: fullAccess, role: 'admin' }] })).toEqual(['admin-access']);
  });

  it.each([
    ['a DENY for another role', { ...named('*', '*'), ...assignedTo({ role: 'user' }) }],
    ['a further ALLOW', { ...named('*', '*', 'ALLOW'), ...assignedTo({ role: 'admin' }) }],
    ['a policy without assignments', named('*', '*')],
  ])('%s causes no warning', async (_, draft) => {
    expect(await preview(draft)).toEqual([]);
  });

  it('only the first page has warnings', async () => {
    for (let index = 0; index < 2; index++) await service.call('GET', '/api/Note', { token: admin.token });
    const reply = await service.call('POST', '/admin/api/policies/preview', {
      token: admin.token,
      body: { draft: { removePolicies: [fullAccess] }, limit: 1 },
    });
    expect([reply.at('warnings.0.code'), typeof reply.at('nextCursor')]).toEqual(['own-access', 'string']);
    expect(await preview({ removePolicies: [fullAccess] }, { cursor: reply.at('nextCursor') })).toEqual([]);
  });
});
