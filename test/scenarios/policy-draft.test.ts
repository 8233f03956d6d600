/** Access tests, who-can and permissions answer with the changes of a draft, on both databases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccessQueryService, startAccessQueryService, WHO_CAN } from './access-query-service.ts';

let world: AccessQueryService;
let readers: string;
beforeAll(async () => {
  world = await startAccessQueryService();
  readers = await world.policy({ rules: [{ resource: 'Article', action: 'read' }], roles: ['editor'] });
});
afterAll(() => world.service.close());

const OWN = { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` };

/** Reading one's own articles: for omar and for all users, until then for editors only. */
const draftOf = (world: AccessQueryService): object => ({
  policies: [
    { id: readers, rules: [{ resource: 'Article', action: 'read', conditions: [OWN] }] },
    { name: 'Listing', type: 'ROLE_BASED', rules: [{ resource: 'Article', action: 'list' }] },
  ],
  assignments: [
    { userId: world.idOf('omar'), policyId: readers },
    { role: 'user', policyId: 'draft:1', priority: 5 },
  ],
});

it('an access test decides with the draft', async () => {
  const mayRead = async (name: string, id: string, draft?: object) => {
    const body = { user: { id: world.idOf(name) }, resource: { name: 'Article', id: world.idOf(id) }, action: 'read', draft };
    const reply = await world.send('POST', '/admin/api/policies/test-access', body);
    expect(reply.status, reply.text).toBe(200);
    return reply.at('data.allowed');
  };
  expect([await mayRead('maya', 'other'), await mayRead('maya', 'other', draftOf(world))]).toEqual([true, false]);
  expect([await mayRead('omar', 'other'), await mayRead('omar', 'other', draftOf(world))]).toEqual([false, true]);
});

it('who-can finds the users of the draft', async () => {
  const { seen } = await world.askAll({ resource: 'Article', action: 'read', id: world.idOf('other'), limit: 1, draft: draftOf(world) });
  expect(seen.map(({ id }) => id)).toEqual([world.admin.id, world.idOf('omar')]);
});

it('permissions are those with the draft', async () => {
  const path = `/admin/api/users/${world.idOf('pia')}/permissions`;
  const effectOf = async (draft: object) => {
    const cells = (await world.send('POST', path, { resources: ['Article'], draft })).at('data') as { action: string; effect: string }[];
    return cells.find(({ action }) => action === 'list')?.effect;
  };
  expect([await effectOf({}), await effectOf(draftOf(world))]).toEqual(['deny', 'allow']);
});

it('a draft assigns, changes and removes policies that only users have', async () => {
  const rule = { resource: 'Article', action: 'read' };
  const own = await world.policy({ rules: [rule], userId: world.idOf('quin') });
  const mayRead = async (name: string, draft?: object) => {
    const body = { user: { id: world.idOf(name) }, resource: { name: 'Article', id: world.idOf('other') }, action: 'read', draft };
    return (await world.send('POST', '/admin/api/policies/test-access', body)).at('data.allowed');
  };
  expect([await mayRead('quin'), await mayRead('pia')]).toEqual([true, false]);
  for (const assignment of [{ userId: world.idOf('pia') }, { role: 'user' }])
    expect(await mayRead('pia', { assignments: [{ ...assignment, policyId: own }] })).toBe(true);
  const changed = [{ rules: [{ ...rule, action: 'list' }] }, { rules: [rule], isActive: false }].map((policy) => ({ id: own, ...policy }));
  for (const draft of [{ removePolicies: [own] }, { policies: [changed[0]] }, { policies: [changed[1]] }])
    expect(await mayRead('quin', draft)).toBe(false);
  await world.send('DELETE', `/admin/api/policies/${own}`);
});

it('a draft with mistakes is refused with all of them', async () => {
  const draft = { policies: [{ id: readers, priority: 'high' }], assignments: [{ role: 'user', policyId: 'draft:1' }] };
  const reply = await world.send('POST', WHO_CAN, { resource: 'Article', action: 'read', draft });
  const errors = reply.at('errors') as { path: string }[];
  expect([reply.status, errors.map(({ path }) => path)]).toEqual([400, ['draft.policies.0.priority', 'draft.assignments.0.policyId']]);
});
