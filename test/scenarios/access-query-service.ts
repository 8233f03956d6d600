/** A small newsroom for access queries: who can perform an action, and what a user can do. */
import { expect } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Article.yaml': `name: Article
fields:
  title: { type: string }
  status: { type: enum, values: [draft, published] }
  authorId: { type: reference, to: User }
  embargo: { type: string, writeOnly: true }
  views: { type: integer, default: 0 }
  folderId: { type: reference, to: Folder }
  teamIds: { type: list, of: { type: reference, to: Team } }
`,
  'Folder.yaml': 'name: Folder\nfields:\n  parentId: { type: reference, to: Folder, onDelete: restrict, hierarchy: true }\n',
  'Membership.yaml': `name: Membership
fields:
  userId: { type: reference, to: User }
  status: { type: string }
  level: { type: string }
indexes: [{ fields: [userId, status] }]
`,
  'Team.yaml': 'name: Team\nfields:\n  name: { type: string }\n',
  'User.yaml': `name: User
fields:
  department: { type: string }
  level: { type: integer }
  teamId: { type: reference, to: Team }
  folderId: { type: reference, to: Folder }
  role: { type: enum, values: [anon, user, admin, editor], default: user }
`,
};

const USERS: Readonly<Record<string, object>> = {
  maya: { department: 'sports', level: 1, role: 'editor', folderId: '<top>' },
  noor: { department: 'politics', level: 2, role: 'editor', teamId: '<team>' },
  omar: { department: 'sports', level: 3, folderId: '<folder>' },
  pia: {},
  quin: { level: 1, teamId: '<team>' },
  gone: { role: 'editor' },
};

/** The memberships: user, status of the articles, level. */
const MEMBERSHIPS: readonly (readonly [string, string, string?])[] = [
  ['maya', 'draft', 'editor'],
  ['noor', 'draft'],
  ['omar', 'published', 'reader'],
  ['pia', 'draft', 'reader'],
];

const related = (parts: object): object => ({ related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}' }, ...parts } });
const BY_STATUS = { userId: '${user.id}', status: '${resource.status}' };
/** Conditions on related records, ancestors and records of lists. */
export const REACHING: readonly object[] = [
  related({}),
  related({ on: BY_STATUS }),
  related({ on: BY_STATUS, where: [{ field: 'm.level', operator: 'eq', value: 'editor' }] }),
  related({ on: BY_STATUS, atMost: 0 }),
  { not: related({ where: [{ field: 'm.level', operator: 'eq', value: 'reader' }] }) },
  { field: 'resource.folderId', operator: 'within', value: '${user.folderId}' },
  { field: 'resource.teamIds.name', operator: 'eq', value: 'night' },
];

/** An id without a record. */
export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
/** The path of who-can. */
export const WHO_CAN = '/admin/api/policies/who-can';

/** A role or a user in a response. */
export interface Row {
  readonly id?: string;
  readonly name?: string;
  readonly role: string;
  readonly effect: string;
  readonly rule: { readonly id: string; readonly description?: string };
  readonly policy: { readonly name: string };
  readonly via?: string;
  readonly when?: string;
}

/** A running service with users and articles, and helpers that query as an admin. */
export interface AccessQueryService {
  readonly service: RunningService;
  readonly admin: TestUser;
  /** Returns the id of a user or an article by name. */
  idOf(name: string): string;
  person(name: string): TestUser;
  /** Sends a request as admin. */
  send(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Creates and assigns a policy. */
  policy(policy: Parameters<RunningService['createPolicy']>[0]): Promise<string>;
  /** Deletes the policies that `policy` created. */
  forget(): Promise<void>;
  /** Sends a who-can query and expects a success. */
  ask(query: object): Promise<Reply>;
  /** Returns the rows of all pages. */
  askAll(query: object): Promise<{ readonly seen: readonly Row[]; readonly sizes: readonly number[] }>;
}

/**
 * Starts a service in which maya and noor are editors, omar, pia and quin are users, and gone is an inactive editor.
 * The article `own` belongs to maya, is in a folder below that of maya and has the team night, `other` belongs to omar, and `bare` has no values.
 */
export async function startAccessQueryService(): Promise<AccessQueryService> {
  const service = await startService({ definitions: DEFINITIONS, settings: { rateLimit: 0 } });
  const admin = await service.admin();
  const team = await service.createRecord('Team', { name: 'night' });
  const top = await service.createRecord('Folder', {});
  const folderId = await service.createRecord('Folder', { parentId: top });
  const named = new Map([
    ['<team>', team],
    ['<top>', top],
    ['<folder>', folderId],
  ]);
  const withIds = (fields: object): object =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, named.get(String(value)) ?? value]));
  const users = new Map<string, TestUser>([['admin', admin]]);
  for (const [name, fields] of Object.entries(USERS)) users.set(name, await service.user({ name, ...withIds(fields) }));
  const ids = new Map([...users].map(([name, { id }]) => [name, id]));
  const send: AccessQueryService['send'] = (method, path, body) =>
    service.call(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) });
  await send('PUT', `/api/User/${ids.get('gone')}`, { isActive: false });
  const reached = { folderId, teamIds: [team] };
  ids.set('own', await service.createRecord('Article', { title: 'a', status: 'draft', authorId: ids.get('maya'), ...reached }));
  ids.set('other', await service.createRecord('Article', { title: 'b', status: 'published', authorId: ids.get('omar') }));
  for (const [name, status, level] of MEMBERSHIPS)
    await service.createRecord('Membership', { userId: ids.get(name), status, ...(level !== undefined && { level }) });
  ids.set('bare', await service.createRecord('Article', {}));
  return { service, admin, send, ...createLookups({ users, ids }), ...createPolicies(service, send), ...createQueries(send) };
}

function createLookups({
  users,
  ids,
}: {
  users: ReadonlyMap<string, TestUser>;
  ids: ReadonlyMap<string, string>;
}): Pick<AccessQueryService, 'idOf' | 'person'> {
  const lookUp = <Value>(map: ReadonlyMap<string, Value>, name: string): Value => {
    const value = map.get(name);
    if (value === undefined) throw new Error(`no user or article is named ${name}`);
    return value;
  };
  return { idOf: (name) => lookUp(ids, name), person: (name) => lookUp(users, name) };
}

function createPolicies(service: RunningService, send: AccessQueryService['send']): Pick<AccessQueryService, 'policy' | 'forget'> {
  const created: string[] = [];
  return {
    async policy(policy) {
      const id = await service.createPolicy(policy);
      created.push(id);
      return id;
    },
    async forget() {
      for (const id of created.splice(0)) await send('DELETE', `/admin/api/policies/${id}`);
    },
  };
}

function createQueries(send: AccessQueryService['send']): Pick<AccessQueryService, 'ask' | 'askAll'> {
  const ask = async (query: object): Promise<Reply> => {
    const reply = await send('POST', WHO_CAN, query);
    expect(reply.status, reply.text).toBe(200);
    return reply;
  };
  return {
    ask,
    async askAll(query) {
      const seen: Row[] = [];
      const sizes: number[] = [];
      let cursor: unknown;
      do {
        const page = await ask({ ...query, ...(typeof cursor === 'string' && { cursor }) });
        const rows = page.at('data.users') as readonly Row[];
        expect(page.at('count')).toBe(rows.length);
        seen.push(...rows);
        sizes.push(rows.length);
        cursor = page.at('nextCursor');
      } while (cursor !== undefined);
      return { seen, sizes };
    },
  };
}
