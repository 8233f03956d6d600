/** The catalogue of a caller: the definitions of the resources on which an action may be allowed, with these actions, and nothing about the others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const definitions = {
  'Article.yaml': `
name: Article
fields:
  title: { type: string, required: true }
  status: { type: enum, values: [draft, published], default: draft }
  deskId: { type: reference, to: Desk }
  readerIds: { type: list, of: { type: reference, to: User } }
  sourcePhone: { type: string, writeOnly: true }
`,
  'Desk.yaml': 'name: Desk\nfields:\n  name: { type: string }\n',
  'Tip.yaml': 'name: Tip\nfields:\n  text: { type: text }\n',
};

let service: RunningService;
let caller: TestUser;
beforeAll(async () => {
  service = await startService({ definitions });
  await service.admin();
});
afterAll(() => service.close());
beforeEach(async () => {
  caller = await service.user();
});

interface Permission {
  readonly action: string;
  readonly effect: string;
}
interface OwnCatalogue {
  readonly resources: readonly {
    readonly definition: { readonly name: string; readonly fields: readonly Readonly<Record<string, unknown>>[] };
    readonly permissions: readonly Permission[];
  }[];
  readonly auditLog?: { readonly permissions: readonly Permission[] };
  readonly operators: readonly unknown[];
}
const load = (headers = {}, token: string | undefined = caller.token): Promise<Reply> =>
  service.call('GET', '/auth/me/catalogue', { headers, ...(token !== '' && { token }) });
const catalogue = async (token?: string): Promise<OwnCatalogue> => {
  const reply = await load({}, token);
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data') as OwnCatalogue;
};
const grant = (...rules: readonly object[]) => service.createPolicy({ userId: caller.id, rules });
const effectsOf = ({ resources }: OwnCatalogue) =>
  resources.map(({ definition, permissions }) => [definition.name, ...permissions.map(({ action, effect }) => `${action}: ${effect}`)]);

const PUBLISHED = { field: 'resource.status', operator: 'eq', value: 'published' };

describe('the catalogue of the caller', () => {
  it('lists the resources and actions that are not denied', async () => {
    await grant(
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'list', conditions: [PUBLISHED] },
      { resource: 'Tip', action: 'create' },
      { resource: 'Desk', action: 'read' },
      { resource: 'Desk', action: '*', effect: 'DENY', priority: 900 },
    );
    expect(effectsOf(await catalogue())).toEqual([
      ['Article', 'read: allow', 'list: conditional'],
      ['Tip', 'create: allow'],
    ]);
  });

  it('shows the effects that a question about the permissions has', async () => {
    await grant(
      { resource: 'Article', action: '*', conditions: [PUBLISHED] },
      { resource: 'Article', action: 'delete', effect: 'DENY', conditions: [{ field: 'resource.title', operator: 'eq', value: 'x' }] },
      { resource: '*', action: 'read' },
    );
    const expected: unknown[] = [];
    for (const resource of ['Article', 'Desk', 'Tip', 'User']) {
      const reply = await service.call('POST', '/auth/me/permissions', { token: caller.token, body: { resource } });
      const permissions = (reply.at('data') as readonly Permission[]).filter(({ effect }) => effect !== 'deny');
      expected.push([resource, ...permissions.map(({ action, effect }) => `${action}: ${effect}`)]);
    }
    expect(effectsOf(await catalogue()).toSorted()).toEqual(expected.toSorted());
  });

  it('contains neither secret fields nor the names of other resources', async () => {
    await grant({ resource: 'Article', action: 'read' });
    const reply = await load();
    for (const hidden of ['sourcePhone', 'Desk', 'Tip', 'User']) expect(reply.text).not.toContain(`"${hidden}"`);
    const fields = (reply.at('data') as OwnCatalogue).resources[0]?.definition.fields ?? [];
    expect(fields.find(({ name }) => name === 'deskId')).toMatchObject({ type: 'reference' });
    await grant({ resource: 'Desk', action: 'list' });
    const wider = (await catalogue()).resources.find(({ definition }) => definition.name === 'Article')?.definition.fields ?? [];
    expect(wider.find(({ name }) => name === 'deskId')).toMatchObject({ type: 'reference', to: 'Desk' });
  });

  it('returns no resource to a caller without rules, but the tables of operators', async () => {
    const { resources, auditLog, operators } = await catalogue();
    expect([resources, auditLog, operators.length > 0]).toEqual([[], undefined, true]);
    expect((await catalogue('')).resources).toEqual([]);
  });

  it('returns the rights on the audit log', async () => {
    await grant({ resource: '_Decision', action: 'read', conditions: [{ field: 'resource.resource', operator: 'eq', value: 'Article' }] });
    expect((await catalogue()).auditLog).toEqual({ permissions: [{ action: 'read', effect: 'conditional' }] });
    const ofAdmin = await catalogue((await service.admin()).token);
    expect(ofAdmin.auditLog?.permissions.map(({ action }) => action)).toEqual(['read', 'export']);
  });

  it('follows a change of policies at once, and is not sent again without a change', async () => {
    await grant({ resource: 'Article', action: 'read' });
    const first = await load();
    const etag = String(first.headers['etag']);
    const same = await load({ 'if-none-match': etag });
    expect([same.status, same.text, same.headers['etag']]).toEqual([304, '', etag]);
    await grant({ resource: 'Tip', action: 'create' });
    const changed = await load({ 'if-none-match': etag });
    expect([changed.status, effectsOf(changed.at('data') as OwnCatalogue)]).toEqual([
      200,
      [
        ['Article', 'read: allow'],
        ['Tip', 'create: allow'],
      ],
    ]);
  });

  it('writes no audit entry', async () => {
    await load();
    const entries = await service.decisions(`userId=${caller.id}`);
    expect(entries.map(({ kind }) => kind)).toEqual(['auth']);
  });

  it('refuses an invalid token', async () => {
    expect((await load({}, 'a.b.c')).status).toBe(401);
  });
});
