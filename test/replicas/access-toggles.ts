/** Every change that revokes and restores access, each with its own user. */

import { idOf, pause, type Reply } from '../process/program.ts';
import { type Call, EVERYTHING, type Fleet, type FleetUser } from './fleet.ts';
import type { Toggle } from './freshness.ts';

/** The requests of an admin that revoke and restore access. */
interface Change {
  readonly off: readonly [call: Call, body?: object];
  readonly on: readonly [call: Call, body?: object];
  /** True if the change ends the sessions of the user, who then logs in again. */
  readonly endsSessions?: boolean;
}

/** Creates a user with access that depends on the change. */
type Preparation = (fleet: Fleet) => Promise<Pick<Toggle, 'user' | 'ofRecords'> & { readonly change: Change }>;

const PREPARATIONS: ReadonlyMap<string, Preparation> = new Map<string, Preparation>([
  ['a policy is switched off', (fleet) => ofPolicy(fleet, { off: { isActive: false }, on: { isActive: true } })],
  ['a rule is changed', (fleet) => ofPolicy(fleet, { off: { rules: FOR_NO_USER }, on: { rules: EVERYTHING } })],
  [
    'an assignment is removed',
    async (fleet) => {
      const { user, policyId } = await grant(fleet);
      return { user, change: ofAssignment(`/admin/api/policies/${policyId}/assign/user/${user.id}`) };
    },
  ],
  [
    'a role loses a policy',
    async (fleet) => {
      const user = await fleet.createUser('anon');
      const path = `/admin/api/policies/${await fleet.createPolicy()}/assign/role/anon` as const;
      await fleet.asAdmin(`POST ${path}`, {});
      return { user, change: ofAssignment(path) };
    },
  ],
  [
    'a user is deactivated',
    async (fleet) => {
      const { user } = await grant(fleet);
      return { user, change: { ...ofUser(user, { off: { isActive: false }, on: { isActive: true } }), endsSessions: true } };
    },
  ],
  [
    'a user is demoted',
    async (fleet) => {
      const user = await fleet.createUser('admin');
      return { user, change: ofUser(user, { off: { role: 'user' }, on: { role: 'admin' } }) };
    },
  ],
  [
    'what a condition reads of a user is changed',
    async (fleet) => {
      const conditions = [{ field: 'user.name', operator: 'eq', value: 'Trusted' }];
      const { user } = await grant(fleet, [{ resource: 'Note', action: '*', conditions }]);
      await fleet.asAdmin(`PUT /api/User/${user.id}`, { name: 'Trusted' });
      return { user, change: ofUser(user, { off: { name: 'Other' }, on: { name: 'Trusted' } }) };
    },
  ],
  [
    'a membership is deleted',
    async (fleet) => {
      const { user, id, path } = await grantMembership(fleet);
      return { user, change: { off: [`DELETE ${path}`], on: ['POST /api/Membership/restore', { id }] } };
    },
  ],
  [
    'a membership is moved to another user',
    async (fleet) => {
      const { user, path } = await grantMembership(fleet);
      const other = await fleet.createUser('user');
      return { user, change: { off: [`PUT ${path}`, { userId: other.id }], on: [`PUT ${path}`, { userId: user.id }] } };
    },
  ],
  [
    'a membership has expired by a change',
    async (fleet) => {
      const { user, path } = await grantMembership(fleet);
      return { user, change: { off: [`PUT ${path}`, { level: 'expired' }], on: [`PUT ${path}`, { level: 'writer' }] } };
    },
  ],
  [
    'the membership of listed records is deleted',
    async (fleet) => {
      const { user, id, path } = await grantListed(fleet);
      return { user, ofRecords: true, change: { off: [`DELETE ${path}`], on: ['POST /api/Membership/restore', { id }] } };
    },
  ],
  [
    'the membership of listed records is moved to other records',
    async (fleet) => {
      const { user, level, path } = await grantListed(fleet);
      return { user, ofRecords: true, change: { off: [`PUT ${path}`, { level: 'others' }], on: [`PUT ${path}`, { level }] } };
    },
  ],
  [
    'a membership that denies access is added',
    async (fleet) => {
      const related = { resource: 'Membership', as: 'm', on: { userId: '${user.id}', level: 'banned' }, atMost: 0 };
      const { user } = await grant(fleet, [{ resource: 'Note', action: '*', conditions: [{ related }] }]);
      const id = idOf(await fleet.asAdmin('POST /api/Membership', { userId: user.id, level: 'banned' }));
      const path: Call = `DELETE /api/Membership/${id}`;
      await fleet.asAdmin(path);
      return { user, change: { off: ['POST /api/Membership/restore', { id }], on: [path] } };
    },
  ],
  [
    'a value behind a reference is changed',
    async (fleet) => {
      const folder = idOf(await fleet.asAdmin('POST /api/Folder', { name: 'open' }));
      const isOpen = { field: 'm.folderId.name', operator: 'eq', value: 'open' };
      const { user } = await grantMembership(fleet, { where: [isOpen], values: { folderId: folder } });
      const path: Call = `PUT /api/Folder/${folder}`;
      return { user, change: { off: [path, { name: 'closed' }], on: [path, { name: 'open' }] } };
    },
  ],
  [
    'a record of a list of references is changed',
    async (fleet) => {
      const team = idOf(await fleet.asAdmin('POST /api/Team', { name: 'open' }));
      const other = idOf(await fleet.asAdmin('POST /api/Team', { name: 'other' }));
      const isOpen = { field: 'm.teamIds.name', operator: 'eq', value: 'open' };
      const { user } = await grantMembership(fleet, { where: [isOpen], values: { teamIds: [other, team] } });
      return { user, change: { off: [`PUT /api/Team/${team}`, { name: 'closed' }], on: [`PUT /api/Team/${team}`, { name: 'open' }] } };
    },
  ],
  [
    'a folder is moved',
    async (fleet) => {
      const folder = async (parentId?: string): Promise<string> => idOf(await fleet.asAdmin('POST /api/Folder', { parentId }));
      const [top, other] = [await folder(), await folder()];
      const between = await folder(top);
      const isBelow = { field: 'm.folderId', operator: 'within', value: [top] };
      const { user } = await grantMembership(fleet, { where: [isBelow], values: { folderId: await folder(between) } });
      const path = `PUT /api/Folder/${between}` as const;
      return { user, change: { off: [path, { parentId: other }], on: [path, { parentId: top }] } };
    },
  ],
]);

/** Further conditions on the membership, and its further values. */
interface MembershipOptions {
  readonly where?: readonly object[];
  readonly values?: object;
}

/** Creates a user whose access depends on a membership. Returns the membership too. */
async function grantMembership(
  fleet: Fleet,
  { where = [], values = {} }: MembershipOptions = {},
): Promise<{ readonly user: FleetUser; readonly id: string; readonly path: `/${string}` }> {
  const related = { resource: 'Membership', as: 'm', on: { userId: '${user.id}', level: 'writer' }, ...(where.length > 0 && { where }) };
  const { user } = await grant(fleet, [{ resource: 'Note', action: '*', conditions: [{ related }] }]);
  const id = idOf(await fleet.asAdmin('POST /api/Membership', { userId: user.id, level: 'writer', ...values }));
  return { user, id, path: `/api/Membership/${id}` };
}

/** Creates a user who may list the posts of a membership, and two of these posts. Returns the membership too. */
async function grantListed(
  fleet: Fleet,
  { where = [], values = {} }: MembershipOptions = {},
): Promise<{ readonly user: FleetUser; readonly id: string; readonly level: string; readonly path: `/${string}` }> {
  const related = {
    resource: 'Membership',
    as: 'm',
    on: { userId: '${user.id}', level: '${resource.text}' },
    ...(where.length > 0 && { where }),
  };
  const { user } = await grant(fleet, [{ resource: 'Post', action: '*', conditions: [{ related }] }]);
  const level = `of ${user.id}`;
  // Not notes: of these, there are thousands, and a list without any record of its own would read all of them.
  for (let count = 0; count < 2; count++) await fleet.asAdmin('POST /api/Post', { text: level });
  const id = idOf(await fleet.asAdmin('POST /api/Membership', { userId: user.id, level, ...values }));
  return { user, id, level, path: `/api/Membership/${id}` };
}

/** Names of the changes, which complete test titles such as "… after … is acknowledged". */
export const TOGGLES: readonly string[] = [...PREPARATIONS.keys()];

/** Creates the toggle with this name. */
export async function createToggle(fleet: Fleet, name: string): Promise<Toggle> {
  const prepare = PREPARATIONS.get(name);
  if (prepare === undefined) throw new Error(`expected one of ${TOGGLES.join(', ')}, given ${name}`);
  const { user, change, ofRecords } = await prepare(fleet);
  let count = 0;
  // The entries are found by these ids.
  const next = (): string => `toggle-${user.id}-${count++}`;
  return {
    name,
    user,
    ofRecords,
    off: () => fleet.asAdmin(change.off[0], change.off[1], next()),
    async on() {
      await fleet.asAdmin(change.on[0], change.on[1], next());
      if (change.endsSessions === true) user.token = await fleet.logIn(user.id);
    },
  };
}

/** Creates a toggle by expiry: an assignment that ends by the clock of the server, without a change. */
export async function createExpiry(fleet: Fleet): Promise<Toggle> {
  const { user, policyId } = await grant(fleet);
  return toExpiry(fleet, { name: 'an assignment has expired', user, path: `/admin/api/policies/${policyId}/assign/user/${user.id}` });
}

/** Creates a toggle by expiry: a membership whose end, which a condition compares, passes by the clock of the server. */
export async function createMembershipExpiry(fleet: Fleet): Promise<Toggle> {
  const isCurrent = { field: 'm.expiresAt', operator: 'after', value: '${environment.timestamp}' };
  const values = { expiresAt: '2999-01-01T00:00:00.000Z' };
  const { user, path } = await grantMembership(fleet, { where: [isCurrent], values });
  return toExpiry(fleet, { name: 'the end of a membership has passed', user, path });
}

/** Creates the same for a user who lists the records of the membership. */
export async function createListedExpiry(fleet: Fleet): Promise<Toggle> {
  const isCurrent = { field: 'm.expiresAt', operator: 'after', value: '${environment.timestamp}' };
  const { user, path } = await grantListed(fleet, { where: [isCurrent], values: { expiresAt: '2999-01-01T00:00:00.000Z' } });
  return toExpiry(fleet, { name: 'the end of the membership of listed records has passed', user, path, ofRecords: true });
}

/** A record whose `expiresAt` ends the access of a user. */
interface Expiring extends Pick<Toggle, 'name' | 'user' | 'ofRecords'> {
  readonly path: `/${string}`;
}

function toExpiry(fleet: Fleet, { path, ...toggle }: Expiring): Toggle {
  const now = async (): Promise<number> => {
    const [row] = await fleet.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(row?.['now']);
  };
  const expire = async (expiresAt: number): Promise<Reply> =>
    fleet.asAdmin(`PUT ${path}`, { expiresAt: new Date(expiresAt).toISOString() });
  return {
    ...toggle,
    async off() {
      const expiresAt = Math.ceil(await now()) + 200;
      await expire(expiresAt);
      while ((await now()) <= expiresAt) await pause(5);
      return { arrivedAt: performance.now() };
    },
    on: async () => expire((await now()) + 600_000),
  };
}

const FOR_NO_USER = [
  { resource: 'Note', action: '*', conditions: [{ field: 'user.email', operator: 'eq', value: 'unknown@example.com' }] },
];

/** Returns the requests that remove and restore an assignment. */
interface Bodies {
  readonly off: object;
  readonly on: object;
}

async function ofPolicy(fleet: Fleet, { off, on }: Bodies): ReturnType<Preparation> {
  const { user, policyId } = await grant(fleet);
  const call: Call = `PUT /admin/api/policies/${policyId}`;
  return { user, change: { off: [call, off], on: [call, on] } };
}

function ofUser({ id }: FleetUser, { off, on }: Bodies): Change {
  return { off: [`PUT /api/User/${id}`, off], on: [`PUT /api/User/${id}`, on] };
}

function ofAssignment(path: `/${string}`): Change {
  return { off: [`DELETE ${path}`], on: [`POST ${path}`, {}] };
}

/** Creates a user with an assigned policy. */
async function grant(fleet: Fleet, rules?: readonly object[]): Promise<{ readonly user: FleetUser; readonly policyId: string }> {
  const user = await fleet.createUser('user');
  const policyId = await fleet.createPolicy(rules);
  await fleet.asAdmin(`POST /admin/api/policies/${policyId}/assign/user/${user.id}`, {});
  return { user, policyId };
}
