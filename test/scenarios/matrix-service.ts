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
/** A column of the matrix: one kind of caller. */
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

/** The value by which a filter finds the record of another user. */
export const TAKEN: string = 'a-record-of-another';

/** Values of a record. */
export type Data = Readonly<Record<string, unknown>>;

/** Public resources, each with valid data for a create. `unique` becomes part of a unique field. */
export const RESOURCES: ReadonlyMap<string, (matrix: MatrixService, unique: string) => Data> = new Map<
  string,
  (matrix: MatrixService, unique: string) => Data
>([
  ['Article', ({ ids }, unique) => ({ title: 'An article', slug: unique, authorId: ids.get('admin') })],
  ['Comment', ({ records }, unique) => ({ articleId: records.get('Article that is commented on'), text: unique })],
  ['Tip', (_matrix, unique) => ({ subject: unique, text: 'Look here', contact: 'a source' })],
  ['User', (_matrix, unique) => ({ name: unique, email: `${unique}@example.com` })],
]);
/** The field of each resource by which filters find a record. */
export const KEYS: ReadonlyMap<string, string> = new Map([
  ['Article', 'slug'],
  ['Comment', 'text'],
  ['Tip', 'subject'],
  ['User', 'name'],
]);

/** Starts the newsroom and creates a caller of every kind. */
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
  const matrix = { service, ids, tokens, records };
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
  await ensureRecord(matrix, { name: 'Article that is commented on', resource: 'Article', unique: 'commented-on' });
  return matrix;
}

/** Deletes the policies of the first admin. The records for the last column are created before that. */
export async function removeFullAccess(matrix: MatrixService): Promise<void> {
  const { service, records } = matrix;
  for (const resource of RESOURCES.keys()) {
    await ensureRecord(matrix, { name: `${resource} of another`, resource, unique: TAKEN });
    const own = await ownRecord(matrix, 'admin', resource);
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

/** Creates a record as admin if it does not exist. */
export async function ensureRecord(
  matrix: MatrixService,
  { name, resource, unique }: { name: string; resource: string; unique: string },
): Promise<void> {
  const make = RESOURCES.get(resource);
  if (make === undefined || matrix.records.has(name)) return;
  matrix.records.set(name, await matrix.service.createRecord(resource, { ...make(matrix, unique) }));
}

/** Returns the id of a record that the caller created, if policies allow that. For User, the id of the caller. */
export async function ownRecord(matrix: MatrixService, person: Person, resource: string): Promise<string | undefined> {
  const { service, tokens, ids, records } = matrix;
  const name = `${resource} of ${person}`;
  const id = ids.get(person);
  if (resource === 'User' && id !== undefined) records.set(name, id);
  if (!records.has(name) && resource !== 'User') {
    const data = RESOURCES.get(resource)?.(matrix, name.toLowerCase().replaceAll(' ', '-'));
    const reply = await service.call('POST', `/api/${resource}`, { token: tokens.get(person), body: data });
    if (reply.status === 201) records.set(name, String(reply.at('data.id')));
  }
  return records.get(name);
}
