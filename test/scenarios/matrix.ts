/** The authorization matrix: every resource and admin endpoint × every action × several kinds of callers, over HTTP. */
import { ACTIONS } from '../../src/actions.ts';
import { SYSTEM } from '../../src/resources/system/index.ts';
import type { Reply } from '../harness.ts';
import {
  type Data,
  ensureRecord,
  KEYS,
  type MatrixService,
  ownRecord,
  type Person,
  RESOURCES,
  removeFullAccess,
  startMatrixService,
  TAKEN,
  UNKNOWN_ID,
} from './matrix-service.ts';

/** A row: a request, and the response to each kind of caller. */
export interface MatrixRow {
  readonly what: string;
  readonly answers: readonly string[];
}

/** Rows under one heading. */
export interface MatrixTable {
  readonly title: string;
  readonly rows: readonly MatrixRow[];
}

/** Sends every request as each of these kinds of callers. Changes are reverted before the next request. */
export async function requestEverything(people: readonly Person[]): Promise<readonly MatrixTable[]> {
  const matrix = await startMatrixService();
  await checkAllAsked(matrix);
  const columns: Column[] = [];
  for (const person of people) {
    if (person === 'admin without policies') await removeFullAccess(matrix);
    columns.push(await askAs(matrix, person));
  }
  await matrix.service.close();
  return toTables(columns);
}

/** Title of a table → request → response, for one kind of caller. */
type Column = ReadonlyMap<string, ReadonlyMap<string, string>>;

async function askAs(matrix: MatrixService, person: Person): Promise<Column> {
  const column = new Map<string, ReadonlyMap<string, string>>();
  const publicRows = await Promise.all(
    [...RESOURCES.keys()].map(async (resource) => [resource, await askAbout(matrix, person, resource)] as const),
  );
  for (const [resource, rows] of publicRows) column.set(resource, rows);
  const internal = await Promise.all(
    INTERNAL.map(async (resource): Promise<[string, string]> => {
      const rows = await askAbout(matrix, person, resource);
      return [`${resource}: every action`, [...new Set(rows.values())].join(', ')];
    }),
  );
  column.set('Internal resources', new Map(internal));
  const endpoints = await Promise.all(
    ENDPOINTS.map(
      async ([send, body]): Promise<[string, string]> => [
        send.replace('/admin/api', ''),
        await askEndpoint(matrix, { person, send, body }),
      ],
    ),
  );
  return column.set('Admin endpoints', new Map(endpoints));
}

const INTERNAL: readonly string[] = [...SYSTEM.keys()].filter((name) => name.startsWith('_'));

/** Sends the requests one after the other, because the changes of each are reverted before the next. */
async function askAbout(matrix: MatrixService, person: Person, resource: string): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  for (const [what, ask] of ASKED) rows.set(what, await askOne(matrix, { person, resource, ask }));
  return rows;
}

/** The request for an action. */
interface Sent {
  readonly send: string;
  readonly body?: unknown;
}
interface Subject {
  readonly resource: string;
  readonly key: string;
  readonly other: string;
  readonly own: string | undefined;
  readonly data: Data;
}
/** Returns a request, or undefined if the caller cannot have a record of their own. */
type Ask = (subject: Subject) => Sent | undefined;

/** Addresses a record by its id. */
const on = (method: string, id: string | undefined, { resource, key, data }: Subject): Sent | undefined => {
  if (id === undefined) return undefined;
  return { send: `${method} /api/${resource}/${id}`, ...(method === 'PUT' ? { body: { [key]: data[key] } } : {}) };
};
/** Addresses a record by a filter. */
const by = (action: string, { resource, key, data }: Subject, value: unknown): Sent => {
  const changes = action === 'updateIfExists' ? { [key]: data[key] } : data;
  return { send: `POST /api/${resource}/${action}`, body: { filter: { [key]: value }, data: changes } };
};
/** Every action, with the records that the response can depend on. */
const ASKED: ReadonlyMap<string, Ask> = new Map<string, Ask>([
  ['schema', ({ resource }) => ({ send: `GET /api/${resource}/schema` })],
  ['list', ({ resource }) => ({ send: `GET /api/${resource}` })],
  ['export', ({ resource }) => ({ send: `POST /api/${resource}/export`, body: {} })],
  ['create', ({ resource, data }) => ({ send: `POST /api/${resource}`, body: data })],
  ['import', ({ resource, data }) => ({ send: `POST /api/${resource}/import`, body: { data: [data] } })],
  ['read: own', (subject) => on('GET', subject.own, subject)],
  ['read: of another', (subject) => on('GET', subject.other, subject)],
  ['read: not there', (subject) => on('GET', UNKNOWN_ID, subject)],
  ['update: own', (subject) => on('PUT', subject.own, subject)],
  ['update: of another', (subject) => on('PUT', subject.other, subject)],
  ['update: not there', (subject) => on('PUT', UNKNOWN_ID, subject)],
  ['delete: own', (subject) => on('DELETE', subject.own, subject)],
  ['delete: of another', (subject) => on('DELETE', subject.other, subject)],
  ['delete: not there', (subject) => on('DELETE', UNKNOWN_ID, subject)],
  ['createIfNotExists: no match', (subject) => by('createIfNotExists', subject, subject.data[subject.key])],
  ['createIfNotExists: of another', (subject) => by('createIfNotExists', subject, TAKEN)],
  ['updateIfExists: no match', (subject) => by('updateIfExists', subject, 'nothing')],
  ['updateIfExists: of another', (subject) => by('updateIfExists', subject, TAKEN)],
  ['restore: of another', ({ resource, other }) => ({ send: `POST /api/${resource}/restore`, body: { id: other } })],
  ['restore: not there', ({ resource }) => ({ send: `POST /api/${resource}/restore`, body: { id: UNKNOWN_ID } })],
  ['listDeleted', ({ resource }) => ({ send: `GET /api/${resource}?deleted=true` })],
]);
for (const action of ACTIONS.keys()) {
  if (![...ASKED.keys()].some((what) => what.startsWith(action))) throw new Error(`the matrix has no request for action ${action}`);
}

/** Stands for the revision of `<policy>` in a body. */
const REVISION = '<revision>';

/** Every admin endpoint. `<policy>` is created for the request; `<user>` is a user without assignments, `<deactivated>` one whose sessions have ended. */
const ENDPOINTS: readonly (readonly [send: string, body?: unknown])[] = [
  ['GET /admin/api/policies'],
  ['POST /admin/api/policies', { name: 'made here', type: 'CUSTOM', rules: [{ resource: 'Tip', action: 'read' }] }],
  ['GET /admin/api/policies/<policy>'],
  ['PUT /admin/api/policies/<policy>', { isActive: false }],
  ['DELETE /admin/api/policies/<policy>'],
  ['GET /admin/api/policies/<policy>/history'],
  ['GET /admin/api/policies/<policy>/versions/<revision>'],
  ['GET /admin/api/policies/<policy>/diff?from=<revision>'],
  ['POST /admin/api/policies/<policy>/rollback', { revision: REVISION, reason: 'undo' }],
  ['GET /admin/api/policies/history'],
  ['POST /admin/api/policies/validate', {}],
  ['GET /admin/api/policies/<policy>/assign/user/<user>'],
  ['GET /admin/api/policies/<policy>/assign/role/viewer'],
  ['POST /admin/api/policies/<policy>/assign/user/<user>', {}],
  ['PUT /admin/api/policies/<policy>/assign/user/<user>', {}],
  ['DELETE /admin/api/policies/<policy>/assign/user/<user>'],
  ['POST /admin/api/policies/<policy>/assign/role/viewer', {}],
  ['PUT /admin/api/policies/<policy>/assign/role/viewer', {}],
  ['DELETE /admin/api/policies/<policy>/assign/role/viewer'],
  ['GET /admin/api/assignments'],
  ['POST /admin/api/assignments/batch', { changes: [{ op: 'assign', policyId: UNKNOWN_ID, role: 'viewer' }] }],
  ['GET /admin/api/policies/<policy>/assignments'],
  ['GET /admin/api/users'],
  ['GET /admin/api/users/<user>/policies'],
  ['GET /admin/api/roles/viewer/policies'],
  ['POST /admin/api/policies/test-access', { resource: { name: 'Article' }, action: 'read' }],
  ['POST /admin/api/policies/who-can', { resource: 'Article', action: 'read' }],
  ['POST /admin/api/policies/preview', { draft: {}, limit: 10 }],
  ['POST /admin/api/decisions/<decision>/replay', { draft: {} }],
  ['POST /admin/api/users/<user>/permissions', {}],
  ['POST /admin/api/roles/viewer/permissions', {}],
  ['GET /admin/api/users/<deactivated>/sessions'],
  ['DELETE /admin/api/users/<deactivated>/sessions'],
  ['DELETE /admin/api/users/<deactivated>/sessions/<session>'],
  ['POST /admin/api/policies/<policy>/test', { resource: { name: 'Article' }, action: 'read' }],
  ['GET /admin/api/decisions'],
  ['GET /admin/api/decisions/<decision>'],
  ['GET /admin/api/decisions/verify'],
  ['GET /admin/api/decisions/histogram'],
  ['GET /admin/api/decisions/facets'],
  ['GET /admin/api/decisions/export'],
  ['GET /admin/api/decisions/stream?seconds=0'],
  ['GET /admin/api/policies-analytics'],
  ['GET /admin/api/policies-advice'],
  ['POST /admin/api/policies/import', { policies: [], dryRun: true }],
  ['GET /admin/api/policies/export'],
  ['GET /admin/api/policies-templates'],
  ['GET /admin/api/catalogue'],
  ['GET /admin/api/system'],
  ['GET /admin/api/storage/plan'],
  ['GET /admin/api/storage/history'],
];

/** Throws if the API description has an admin endpoint that the matrix does not request. */
async function checkAllAsked({ service }: MatrixService): Promise<void> {
  const asked = new Set(ENDPOINTS.map(([send]) => send.replace(/<\w+>|(?<=\/)viewer/g, '{}').replace(/\?.*/, '')));
  const paths = (await service.call('GET', '/openapi.json', { token: (await service.admin()).token })).at('paths') as Readonly<
    Record<string, object>
  >;
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      const send = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`;
      if (path.startsWith('/admin/') && !asked.has(send)) throw new Error(`the matrix has no request for ${send}`);
    }
  }
}

let count = 0;

async function askOne(matrix: MatrixService, { person, resource, ask }: { person: Person; resource: string; ask: Ask }): Promise<string> {
  const { service, tokens, records } = matrix;
  const make = RESOURCES.get(resource);
  const data = make?.(matrix, `made-${++count}`) ?? { name: 'x' };
  const key = KEYS.get(resource) ?? 'name';
  await ensureRecord(matrix, { name: `${resource} of another`, resource, unique: TAKEN });
  const own = make === undefined ? UNKNOWN_ID : await ownRecord(matrix, person, resource);
  const sent = ask({ resource, key, data, own, other: records.get(`${resource} of another`) ?? UNKNOWN_ID });
  if (sent === undefined) return '–';
  const [method = '', path = ''] = sent.send.split(' ');
  const reply = await service.call(method, path, { token: tokens.get(person), ...(sent.body === undefined ? {} : { body: sent.body }) });
  await putBack(matrix, { resource, key, data, reply, sent });
  return toAnswer(reply, path);
}

interface Asked {
  readonly resource: string;
  readonly key: string;
  readonly data: Data;
  readonly reply: Reply;
  readonly sent: Sent;
}

/** Reverts a request: deletes a created record and restores a changed key. A deleted record is created again when it is needed. */
async function putBack({ service, records }: MatrixService, { resource, key, data, reply, sent }: Asked): Promise<void> {
  if (reply.status >= 300 || sent.send.startsWith('GET') || sent.send.endsWith('/export')) return;
  const admin = (await service.admin()).token;
  const target = sent.send.split('/').at(-1) ?? '';
  if (sent.send.startsWith('DELETE')) {
    for (const [name, id] of records) if (id === target) records.delete(name);
    return;
  }
  const found = await service.call('POST', `/api/${resource}/list`, { token: admin, body: { where: { [key]: data[key] } } });
  for (const { id } of found.at('data') as readonly { id: string }[]) {
    const name = [...records].find(([, known]) => known === id)?.[0];
    if (name === undefined) await service.call('DELETE', `/api/${resource}/${id}`, { token: admin });
    else await service.call('PUT', `/api/${resource}/${id}`, { token: admin, body: { [key]: name.endsWith('another') ? TAKEN : name } });
  }
}

/** Returns the status, the number of listed records, and whether the request created or changed a record. */
function toAnswer(reply: Reply, path: string): string {
  const shown = path.endsWith('/export') || Array.isArray(reply.at('data')) ? reply.at('count') : undefined;
  const done = reply.at('created') ?? reply.at('updated');
  return [reply.status, shown === undefined ? '' : `· ${shown}`, done === undefined ? '' : done === true ? '· done' : '· not done']
    .filter((part) => part !== '')
    .join(' ');
}

async function askEndpoint(
  matrix: MatrixService,
  { person, send, body }: { person: Person; send: string; body: unknown },
): Promise<string> {
  const { service, tokens, ids } = matrix;
  const policy = send.includes('<policy>') ? await service.createPolicy({ rules: [{ resource: 'Tip', action: 'read' }] }) : undefined;
  const token = (await service.admin()).token;
  const user = ids.get('no policies') ?? UNKNOWN_ID;
  if (!send.startsWith('POST') && send.includes('/assign/'))
    await service.call('POST', `/admin/api/policies/${policy}/assign${send.split('/assign')[1]?.replace('<user>', user)}`, {
      token,
      body: {},
    });
  const revision =
    policy === undefined ? undefined : (await service.call('GET', `/admin/api/policies/${policy}`, { token })).at('data.version');
  const [decision] = send.includes('<decision>') ? await service.decisions('kind=access&limit=1') : [];
  const names = new Map<string, unknown>([
    ['policy', policy],
    ['user', user],
    ['decision', decision?.['id']],
    ['deactivated', ids.get('deactivated')],
    ['session', UNKNOWN_ID],
    ['revision', revision],
  ]);
  const [method = '', path = ''] = send.replace(/<(\w+)>/g, (_, name: string) => String(names.get(name))).split(' ');
  const given = typeof body === 'object' && body !== null && 'revision' in body ? { ...body, revision } : body;
  const reply = await service.call(method, path, { token: tokens.get(person), ...(given === undefined ? {} : { body: given }) });
  const created = send === 'POST /admin/api/policies' ? reply.at('data.id') : undefined;
  for (const id of [policy, created]) if (id !== undefined) await service.call('DELETE', `/admin/api/policies/${id}`, { token });
  return String(reply.status);
}

function toTables(columns: readonly Column[]): readonly MatrixTable[] {
  return [...(columns[0] ?? [])].map(([title, rows]) => ({
    title,
    rows: [...rows.keys()].map((what) => ({ what, answers: columns.map((column) => column.get(title)?.get(what) ?? '') })),
  }));
}
