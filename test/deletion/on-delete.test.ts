/** Deletions of referenced records: `onDelete` applies, each affected record is decided and audited, and the database does nothing by itself. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createService } from '../../src/service.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

const definitions = {
  'Company.yaml': 'name: Company\nfields:\n  name: { type: string }\n',
  'User.yaml': 'name: User\nfields:\n  companyId: { type: reference, to: Company, onDelete: cascade }\n',
  'Node.yaml': `name: Node
fields:
  up:   { type: reference, to: Node, onDelete: cascade }
  peer: { type: reference, to: Node, onDelete: restrict }
  also: { type: reference, to: Node, onDelete: cascade }
`,
  'Leaf.yaml': `name: Leaf
fields:
  goes:  { type: reference, to: Node, onDelete: cascade, index: true }
  also:  { type: reference, to: Node, onDelete: cascade }
  keeps: { type: reference, to: Node, onDelete: restrict }
  loses: { type: reference, to: Node, onDelete: setNull, index: true }
  knows: { type: reference, to: Node, onDelete: restrict, writeOnly: true }
  names: { type: list, of: { type: reference, to: Node, onDelete: setNull } }
`,
};

/** Small, so that tests reach it. */
const CASCADE_MAX = 150;

const keepsChildren = {
  name: 'Deletes nodes that are under no other',
  type: 'CUSTOM',
  rules: [{ resource: 'Node', action: 'delete', conditions: [{ field: 'resource.up', operator: 'exists', value: false }] }],
};

let service: RunningService;
beforeAll(async () => {
  service = await startService({ definitions, settings: { cascadeMax: CASCADE_MAX } });
});
afterAll(() => service.close());

async function asAdmin(method: string, path: string, body?: unknown): Promise<Reply> {
  return service.call(method, path, { token: (await service.admin()).token, body });
}

async function createNode(up?: string): Promise<string> {
  return service.createRecord('Node', up === undefined ? {} : { up });
}

describe('a cascade', () => {
  it('a cascade ends the sessions of users that it deletes', async () => {
    const companyId = await service.createRecord('Company', { name: 'Gone' });
    const user = await service.user({ companyId });
    expect((await asAdmin('DELETE', `/api/Company/${companyId}`)).status).toBe(200);
    expect((await service.call('GET', '/auth/me', { token: user.token })).status).toBe(401);
  });

  it('a cascade does not delete the last active admin', async () => {
    const { id } = await service.admin();
    const companyId = await service.createRecord('Company', { name: 'All' });
    expect((await asAdmin('PUT', `/api/User/${id}`, { companyId })).status).toBe(200);
    const refused = await asAdmin('DELETE', `/api/Company/${companyId}`);
    expect([refused.status, refused.at('code')]).toEqual([409, 'IDENTITY_LAST_ADMIN']);
    expect((await asAdmin('GET', `/api/Company/${companyId}`)).status).toBe(200);
  });

  it('a cascade follows a chain of references, and decides each record by itself', async () => {
    const top = await createNode();
    const ids = [top];
    for (let level = 0; level < 3; level++) ids.push(await createNode(ids.at(-1)));
    const reply = await asAdmin('DELETE', `/api/Node/${top}`);
    expect(reply.status).toBe(200);
    const entries = await service.decisions('resource=Node&action=delete&limit=4');
    expect(new Set(entries.map(({ recordId }) => recordId))).toEqual(new Set(ids));
    expect((await asAdmin('GET', '/api/Node')).at('count')).toBe(0);
  });

  it('a cascade that is denied halfway deletes nothing, and the allowed entries have the outcome ACCESS_DENIED', async () => {
    const { id: policyId } = (await asAdmin('POST', '/admin/api/policies', keepsChildren)).at('data') as { id: string };
    const { id: userId, token } = await service.user();
    await asAdmin('POST', `/admin/api/policies/${policyId}/assign/user/${userId}`, {});
    const top = await createNode();
    const below = await createNode(top);
    const refused = await service.call('DELETE', `/api/Node/${top}`, { token });
    expect(refused.body).toMatchObject({
      status: 403,
      code: 'ACCESS_DENIED',
      hint: expect.stringContaining('Node.up'),
    });
    const entries = await service.decisions(`userId=${userId}&limit=2`);
    expect(new Set(entries.map(({ recordId, allowed, outcome }) => [recordId, allowed, outcome].join(' ')))).toEqual(
      new Set([`${top} true ACCESS_DENIED`, `${below} false `]),
    );
    expect((await asAdmin('DELETE', `/api/Node/${top}`)).status).toBe(200);
  });

  it('a cascade follows at most 32 references in a row', async () => {
    const ids = [await createNode()];
    for (let level = 0; level < 33; level++) ids.push(await createNode(ids.at(-1)));
    const refused = await asAdmin('DELETE', `/api/Node/${ids[0]}`);
    expect(refused.body).toMatchObject({ status: 409, code: 'RECORD_REFERENCED', detail: expect.stringMatching(/ 32 .*Node\.up/) });
    expect((await asAdmin('DELETE', `/api/Node/${ids[1]}`)).status).toBe(200);
    expect((await asAdmin('GET', '/api/Node')).at('count')).toBe(1);
    expect((await asAdmin('DELETE', `/api/Node/${ids[0]}`)).status).toBe(200);
  });

  it.each(['up', 'peer'])('a cascade deletes a record that refers to itself by %s', async (field) => {
    const id = await createNode();
    await asAdmin('PUT', `/api/Node/${id}`, { [field]: id });
    const reply = await asAdmin('DELETE', `/api/Node/${id}`);
    expect([reply.status, reply.at('detail')]).toEqual([200, undefined]);
  });

  it('a cascade ends for records that refer to each other in a circle', async () => {
    const first = await createNode();
    const second = await createNode(first);
    const third = await createNode(second);
    await asAdmin('PUT', `/api/Node/${first}`, { up: third });
    const reply = await asAdmin('DELETE', `/api/Node/${second}`);
    expect([reply.status, reply.at('detail')]).toEqual([200, undefined]);
    expect((await asAdmin('GET', '/api/Node')).at('count')).toBe(0);
    const entries = await service.decisions('resource=Node&action=delete&limit=3');
    expect(new Set(entries.map(({ recordId }) => recordId))).toEqual(new Set([first, second, third]));
  });
});

describe('a cascade over many records', () => {
  const grow = async (count: number, leaf: object): Promise<void> => {
    const reply = await asAdmin('POST', '/api/Leaf/import', { data: Array.from({ length: count }, () => leaf) });
    expect(reply.status, reply.text).toBe(201);
  };
  const leaves = async (): Promise<unknown> => (await asAdmin('GET', '/api/Leaf?total=true&limit=1')).at('total');

  it('a cascade deletes many records, each decided by itself', async () => {
    const id = await createNode();
    await grow(CASCADE_MAX, { goes: id });
    const reply = await asAdmin('DELETE', `/api/Node/${id}`);
    expect([reply.status, await leaves()]).toEqual([200, 0]);
    const entries = await service.decisions('resource=Leaf&action=delete&limit=1000');
    expect(new Set(entries.map(({ recordId }) => recordId)).size).toBe(CASCADE_MAX);
  });

  it('a cascade is refused above its limit with the referencing field, and deletes nothing', async () => {
    const id = await createNode();
    await grow(CASCADE_MAX + 1, { goes: id });
    const refused = await asAdmin('DELETE', `/api/Node/${id}`);
    expect(refused.body).toMatchObject({
      status: 409,
      code: 'RECORD_REFERENCED',
      detail: expect.stringMatching(/ 150 .*Leaf\.goes/),
    });
    expect(await leaves()).toBe(CASCADE_MAX + 1);
    await asAdmin('DELETE', `/api/Leaf/${(await asAdmin('GET', '/api/Leaf?limit=1')).at('data.0.id')}`);
    expect((await asAdmin('DELETE', `/api/Node/${id}`)).status).toBe(200);
  });

  it('a cascade is limited for all requests of a batch together', async () => {
    const ids = [await createNode(), await createNode()];
    for (const id of ids) await grow(CASCADE_MAX / 2 + 1, { goes: id });
    const requests = ids.map((id) => ({ resource: 'Node', action: 'delete', id }));
    const reply = await asAdmin('POST', '/api/batch', { requests });
    expect(reply.body).toMatchObject({ data: [{ status: 200 }, { status: 409 }] });
    expect((await asAdmin('DELETE', `/api/Node/${ids[1]}`)).status).toBe(200);
  });

  it('a cascade deletes a record once that another deleted record references too', async () => {
    const top = await createNode();
    const one = await createNode(top);
    const other = await service.createRecord('Node', { up: top, also: one });
    expect((await asAdmin('DELETE', `/api/Node/${top}`)).status).toBe(200);
    const entries = await service.decisions('action=delete&limit=4');
    expect(entries.slice(0, 3).map(({ recordId }) => recordId)).toEqual(expect.arrayContaining([top, one, other]));
    expect([top, one, other]).not.toContain(entries[3]?.['recordId']);
  });

  it('a cascade deletes a record once that refers by two fields', async () => {
    const top = await createNode();
    const middle = await createNode(top);
    await grow(1, { goes: top, also: middle });
    expect((await asAdmin('DELETE', `/api/Node/${top}`)).status).toBe(200);
    expect(await leaves()).toBe(0);
    const entries = await service.decisions('action=delete&limit=3');
    expect(entries.map(({ resource }) => resource).toSorted()).toEqual(['Leaf', 'Node', 'Node']);
  });
});

describe('setNull', () => {
  it('setNull sets the references of many records to null, each with a new version', async () => {
    const id = await createNode();
    await asAdmin('POST', '/api/Leaf/import', { data: Array.from({ length: 250 }, () => ({ loses: id })) });
    expect((await asAdmin('DELETE', `/api/Node/${id}`)).status).toBe(200);
    const left = (await asAdmin('GET', '/api/Leaf?limit=1000')).at('data') as readonly Record<string, unknown>[];
    expect(left).toHaveLength(250);
    for (const leaf of left) expect(leaf).toMatchObject({ loses: null, version: 2 });
    expect(await service.decisions('resource=Leaf&action=update')).toEqual([]);
  });

  it('setNull removes the reference from lists, and keeps the order of the others', async () => {
    const [one, gone, two] = [await createNode(), await createNode(), await createNode()];
    const leaf = await service.createRecord('Leaf', { names: [two, gone, one, gone] });
    const only = await service.createRecord('Leaf', { names: [gone] });
    expect((await asAdmin('DELETE', `/api/Node/${gone}`)).status).toBe(200);
    expect((await asAdmin('GET', `/api/Leaf/${leaf}`)).at('data')).toMatchObject({ names: [two, one], version: 2 });
    expect((await asAdmin('GET', `/api/Leaf/${only}`)).at('data')).toMatchObject({ names: [], version: 2 });
  });

  it('setNull needs no right to change the referencing record, and changes its version', async () => {
    const { id: userId, token } = await service.user();
    await service.createPolicy({ userId, rules: [{ resource: 'Node', action: 'delete' }] });
    const id = await createNode();
    const leaf = await service.createRecord('Leaf', { loses: id });
    expect((await service.call('PUT', `/api/Leaf/${leaf}`, { token, body: { loses: null } })).status).toBe(403);
    expect((await service.call('DELETE', `/api/Node/${id}`, { token })).status).toBe(200);
    const sent = { token: (await service.admin()).token, body: { goes: null }, headers: { 'if-match': '"1"' } };
    expect((await service.call('PUT', `/api/Leaf/${leaf}`, sent)).status).toBe(412);
  });
});

describe('restrict', () => {
  const refusal = async (leaf: (node: string) => object): Promise<unknown> => {
    const id = await createNode();
    const made = await service.createRecord('Leaf', leaf(id) as Record<string, unknown>);
    const reply = await asAdmin('DELETE', `/api/Node/${id}`);
    expect([reply.status, reply.at('code')]).toEqual([409, 'RECORD_REFERENCED']);
    expect((await asAdmin('GET', `/api/Leaf/${made}`)).status).toBe(200);
    return reply.at('detail');
  };

  it('restrict names the referencing resource and field in the message', async () => {
    expect(await refusal((keeps) => ({ keeps }))).toMatch(/^Leaf\.keeps refers to this Node/);
  });

  it('restrict precedes cascade and setNull in any order of fields', async () => {
    expect(await refusal((id) => ({ goes: id, keeps: id, loses: id }))).toContain('Leaf.keeps');
  });

  it('restrict does not name a secret field in the message', async () => {
    expect(await refusal((knows) => ({ knows }))).toMatch(/^Leaf refers to this Node/);
  });
});

describe.each([
  ['Early', 'Later'],
  ['Later', 'Early'],
])('a cascade to %s and %s', (one, other) => {
  let pairService: RunningService;
  const it = createChain();
  beforeAll(async () => {
    pairService = await startService({
      definitions: {
        'Top.yaml': 'name: Top\nfields:\n  name: { type: string }\n',
        [`${one}.yaml`]: `name: ${one}\nfields:\n  topId: { type: reference, to: Top, onDelete: cascade }\n`,
        [`${other}.yaml`]: `
name: ${other}
fields:
  topId: { type: reference, to: Top, onDelete: cascade }
  loses: { type: reference, to: ${one}, onDelete: setNull }
  keeps: { type: reference, to: ${one}, onDelete: restrict }
`,
      },
    });
  });
  afterAll(() => pairService.close());

  const deleteTop = async (by: 'loses' | 'keeps', token: string): Promise<Reply> => {
    const topId = await pairService.createRecord('Top', {});
    const referred = await pairService.createRecord(one, { topId });
    await pairService.createRecord(other, { topId, [by]: referred });
    return pairService.call('DELETE', `/api/Top/${topId}`, { token });
  };

  it(`decides each record as it was before the deletion in a cascade to ${one} and ${other}`, async () => {
    const { id: userId, token } = await pairService.user();
    const conditions = [{ field: 'resource.loses', operator: 'exists', value: true }];
    const rules = ['Top', one].map((resource) => ({ resource, action: 'delete' }));
    await pairService.createPolicy({ userId, rules: [...rules, { resource: other, action: 'delete', conditions }] });
    expect((await deleteTop('loses', token)).status).toBe(200);
  });

  it(`a restrict refuses a cascade to ${one} and ${other} although its own record would be deleted`, async () => {
    const refused = await deleteTop('keeps', (await pairService.admin()).token);
    expect([refused.status, refused.at('code'), refused.at('detail')]).toEqual([
      409,
      'RECORD_REFERENCED',
      expect.stringContaining(`${other}.keeps`),
    ]);
  });
});

describe('records of a removed definition', () => {
  it('records of a removed definition prevent deletion of the records they refer to, and return unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-kept-'));
    const resources = join(folder, 'resources');
    mkdirSync(resources);
    const parent = 'name: Parent\nfields:\n  name: { type: string }\n';
    const child = 'name: Child\nfields:\n  parentId: { type: reference, to: Parent, onDelete: cascade }\n';
    const login = { email: 'admin@example.com', password: 'correct horse battery' };
    const run = async (files: Readonly<Record<string, string>>, work: (send: Send) => Promise<void>): Promise<void> => {
      rmSync(resources, { recursive: true });
      mkdirSync(resources);
      for (const [file, text] of Object.entries(files)) writeFileSync(join(resources, file), text);
      const flags = { project: folder, data: join(folder, 'data'), port: 0, logLevel: 'silent' };
      const running = await createService(parseConfig({ flags, env: {} }));
      const { url } = await running.listen();
      await work(createSend(url)).finally(() => running.close());
    };
    let id = '';
    await run({ 'Parent.yaml': parent, 'Child.yaml': child }, async (send) => {
      await send('POST', '/auth/setup', { ...login, name: 'Admin' });
      await send('POST', '/auth/login', login);
      id = (await send('POST', '/api/Parent', { name: 'p' })).data?.id ?? '';
      await send('POST', '/api/Child', { parentId: id });
    });
    await run({ 'Parent.yaml': parent }, async (send) => {
      await send('POST', '/auth/login', login);
      const refused = await send('DELETE', `/api/Parent/${id}`);
      expect(refused).toMatchObject({ status: 409, code: 'RECORD_REFERENCED', detail: expect.stringContaining('archived') });
    });
    await run({ 'Parent.yaml': parent, 'Child.yaml': child }, async (send) => {
      await send('POST', '/auth/login', login);
      expect(await send('GET', '/api/Child')).toMatchObject({ count: 1, data: [{ parentId: id }] });
    });
    rmSync(folder, { recursive: true });
  });
});

type Send = (method: string, path: string, body?: unknown) => Promise<{ readonly data?: { readonly id?: string } }>;

/** Sends a request with the token of the last login. */
function createSend(url: string): Send {
  let token = '';
  return async (method, path, body) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await reply.json()) as { token?: string };
    token = answer.token ?? token;
    return answer as Awaited<ReturnType<Send>>;
  };
}
