/** The users and records of the authorization matrix. */
import { createHmac } from 'node:crypto';
import { type RunningService, startService } from '../harness.ts';

/** The columns of the matrix, in order. */
export const PEOPLE = [
  'anon',
  'no policies',
  'own records',
  'editor',
  'admin',
  'deactivated',
  'expired token',
  'admin without policies',
] as const;
/** A column: one kind of caller. */
export type Person = (typeof PEOPLE)[number];

const SECRET = 'a secret of the tests, which is long enough';
/** An id without a record. */
export const UNKNOWN_ID: string = '01900000-0000-7000-8000-000000000000';

/** The newsroom with a caller of every kind. */
export interface MatrixService {
  readonly service: RunningService;
  readonly tokens: ReadonlyMap<Person, string | undefined>;
  readonly ids: ReadonlyMap<Person, string>;
  /** Records that rows act on: `Article of editor` → id. */
  readonly records: Map<string, string>;
}

/** What a filter finds the record of another by. */
export const TAKEN: string = 'a-record-of-another';

/** Values of a record. */
export type Data = Readonly<Record<string, unknown>>;

/** Public resources, with data that a create takes; `unique` keeps one record apart from the next. */
export const RESOURCES: ReadonlyMap<string, (world: MatrixService, unique: string) => Data> = new Map<
  string,
  (world: MatrixService, unique: string) => Data
>([
  ['Article', ({ ids }, unique) => ({ title: 'An article', slug: unique, authorId: ids.get('admin') })],
  ['Comment', ({ records }, unique) => ({ articleId: records.get('Article that is commented on'), text: unique })],
  ['Tip', (_world, unique) => ({ subject: unique, text: 'Look here', contact: 'a source' })],
  ['User', (_world, unique) => ({ name: unique, email: `${unique}@example.com` })],
]);
/** The field of each that a filter finds a record by. */
export const KEYS: ReadonlyMap<string, string> = new Map([
  ['Article', 'slug'],
  ['Comment', 'text'],
  ['Tip', 'subject'],
  ['User', 'name'],
]);

/** Starts the newsroom, and creates a caller of every kind. */
export async function startMatrixService(): Promise<MatrixService> {
  const service = await startService({ project: 'examples/newsroom', settings: { jwtSecret: SECRET } });
  const admin = await service.admin();
  const [nobody, owner, editor, gone] = [
    await service.user(),
    await service.user(),
    await service.user({ role: 'editor' }),
    await service.user(),
  ];
  await service.call('PUT', `/api/User/${gone.id}`, { token: admin.token, body: { isActive: false } });
  const records = new Map<string, string>();
  const ids = new Map<Person, string>([
    ['no policies', nobody.id],
    ['own records', owner.id],
    ['editor', editor.id],
    ['admin', admin.id],
    ['deactivated', gone.id],
    ['expired token', admin.id],
    ['admin without policies', admin.id],
  ]);
  const tokens = new Map<Person, string | undefined>([
    ['anon', undefined],
    ['no policies', nobody.token],
    ['own records', owner.token],
    ['editor', editor.token],
    ['admin', admin.token],
    ['deactivated', gone.token],
    ['expired token', toExpired(admin.token)],
    ['admin without policies', admin.token],
  ]);
  const world = { service, ids, tokens, records };
  const templates = (await service.call('GET', '/admin/api/policies-templates', { token: admin.token })).at('data') as readonly {
    id: string;
    template: { rules: object[] };
  }[];
  for (const { template } of templates.filter(({ id }) => ['own-records', 'own-profile'].includes(id)))
    await service.createPolicy({ ...template, userId: owner.id });
  await service.createPolicy({
    role: 'editor',
    rules: [
      ...['list', 'read', 'update', 'create', 'export'].map((action) => ({
        resource: 'Article',
        action,
        conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }],
      })),
      ...['list', 'read', 'delete'].map((action) => ({ resource: 'Comment', action })),
    ],
  });
  await ensureRecord(world, { name: 'Article that is commented on', resource: 'Article', unique: 'commented-on' });
  return world;
}

/** Leaves the first admin with the role alone; what the last column asks about is made before. */
export async function takeFullAccess(world: MatrixService): Promise<void> {
  const { service, records } = world;
  for (const resource of RESOURCES.keys()) {
    await ensureRecord(world, { name: `${resource} of another`, resource, unique: TAKEN });
    const own = await ownRecord(world, 'admin', resource);
    if (own !== undefined) records.set(`${resource} of admin without policies`, own);
  }
  const token = (await service.admin()).token;
  const policies = (await service.call('GET', '/admin/api/policies', { token })).at('data') as readonly { id: string; name: string }[];
  for (const { id, name } of policies)
    if (name.startsWith('Administrators')) await service.call('DELETE', `/admin/api/policies/${id}`, { token });
}

function toExpired(token: string): string {
  const [header = '', payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const past = Math.floor(Date.now() / 1000) - 3600;
  const text = `${header}.${Buffer.from(JSON.stringify({ ...claims, iat: past - 3600, exp: past })).toString('base64url')}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

/** Makes a record as the admin, unless it is there. */
export async function ensureRecord(
  world: MatrixService,
  { name, resource, unique }: { name: string; resource: string; unique: string },
): Promise<void> {
  const make = RESOURCES.get(resource);
  if (make === undefined || world.records.has(name)) return;
  world.records.set(name, await world.service.createRecord(resource, { ...make(world, unique) }));
}

/** A record that the person has created, where policies let that happen; of users, the person. */
export async function ownRecord(world: MatrixService, person: Person, resource: string): Promise<string | undefined> {
  const { service, tokens, ids, records } = world;
  const name = `${resource} of ${person}`;
  const id = ids.get(person);
  if (resource === 'User' && id !== undefined) records.set(name, id);
  if (!records.has(name) && resource !== 'User') {
    const data = RESOURCES.get(resource)?.(world, name.toLowerCase().replaceAll(' ', '-'));
    const reply = await service.call('POST', `/api/${resource}`, { token: tokens.get(person), body: data });
    if (reply.status === 201) records.set(name, String(reply.at('data.id')));
  }
  return records.get(name);
}
