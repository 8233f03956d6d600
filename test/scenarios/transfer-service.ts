/** A running service for import and export tests, with helpers that send files. */
import { type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';

const DEFINITIONS = {
  'Part.yaml': `
name: Part
fields:
  code:   { type: string, required: true, unique: true, immutable: true, maxLength: 40 }
  title:  { type: string, required: true, maxLength: 100 }
  stock:  { type: integer, min: 0 }
  price:  { type: decimal }
  active: { type: boolean, default: true }
  tags:   { type: list, of: string }
  extra:  { type: json }
  made:   { type: date }
  owner:  { type: reference, to: User, onDelete: setNull }
  notes:  { type: text }
  secret: { type: string, writeOnly: true }
  pins:   { type: list, of: integer, writeOnly: true }
  maker:  { type: email, unique: true, immutable: true }
`,
};

/** A service with users: the admin may do everything; Max everything with his own records; Ina may import, read and change her own; Uwe may only list. */
export interface TransferService extends RunningService {
  readonly tokens: Readonly<Record<'admin' | 'max' | 'ina' | 'uwe', string>>;
  readonly ids: Readonly<Record<'max' | 'ina', string>>;
  /** Sends a file. The default media type is detected from its first characters. */
  send(file: string, options?: Sending): Promise<Reply>;
  fetch(query: string, options?: { readonly as?: keyof TransferService['tokens'] | undefined; readonly body?: unknown }): Promise<Reply>;
  /** Returns all parts by code, as listed by the admin. */
  parts(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Returns the audit entries since the last call, oldest first. */
  entries(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Options of a sent file. */
export interface Sending {
  readonly as?: keyof TransferService['tokens'] | 'anon';
  /** Query string, such as `mode=upsert&key=code`. */
  readonly query?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly resource?: string;
}

/** Starts the service and creates its users. */
export async function startTransferService(settings: ServiceOptions['settings'] = {}): Promise<TransferService> {
  const service = await startService({ definitions: DEFINITIONS, settings });
  const admin = await service.admin();
  const [max, ina, uwe] = [await service.user({ name: 'Max' }), await service.user({ name: 'Ina' }), await service.user({ name: 'Uwe' })];
  const own = [{ field: 'resource.owner', operator: 'eq', value: '${user.id}' }];
  await service.createPolicy({ name: 'own parts', userId: max.id, rules: [{ resource: 'Part', action: '*', conditions: own }] });
  await service.createPolicy({
    name: 'import, and change own parts',
    userId: ina.id,
    rules: [
      ...['import', 'read', 'list', 'export'].map((action) => ({ resource: 'Part', action })),
      { resource: 'Part', action: 'update', conditions: own },
    ],
  });
  await service.createPolicy({ name: 'list parts', userId: uwe.id, rules: [{ resource: 'Part', action: 'list' }] });
  const tokens = { admin: admin.token, max: max.token, ina: ina.token, uwe: uwe.token };
  const seen = new Set((await service.decisions('limit=200')).map(({ id }) => id));
  return {
    ...service,
    tokens,
    ids: { max: max.id, ina: ina.id },
    send: (file, { as = 'admin', query = '', type = typeOf(file), headers = {}, resource = 'Part' } = {}) =>
      service.call('POST', `/api/${resource}/import${query === '' ? '' : `?${query}`}`, {
        token: as === 'anon' ? undefined : tokens[as],
        raw: file,
        headers: { 'content-type': type, ...headers },
      }),
    fetch: (query, { as = 'admin', body = {} } = {}) => service.call('POST', `/api/Part/export?${query}`, { token: tokens[as], body }),
    parts: async () => (await service.call('GET', '/api/Part?sort=code&limit=1000', { token: admin.token })).at('data') as [],
    async entries() {
      const found = (await service.decisions('limit=200')).filter(
        ({ id, resource, action }) => !seen.has(id) && resource === 'Part' && action !== 'list',
      );
      for (const { id } of found) seen.add(id);
      return found.reverse();
    },
  };
}

function typeOf(file: string): string {
  if (file.startsWith('[')) return 'application/json';
  return file.startsWith('{') ? 'application/x-ndjson' : 'text/csv';
}

/** Renders rows as NDJSON. */
export function lines(...rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
