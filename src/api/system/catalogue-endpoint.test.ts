import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RULE_ACTIONS } from '../../actions.ts';
import { OPERATORS } from '../../operators/index.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

interface Path {
  readonly path: string;
  readonly kind?: string;
  readonly to?: string;
  readonly values?: readonly unknown[];
}

interface Description {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly hierarchy?: boolean; readonly operators: readonly string[] }[];
}

interface Catalogue {
  readonly definitions: readonly Description[];
  readonly auditLog: Description;
  readonly operators: readonly { readonly name: string; readonly kinds: readonly string[]; readonly needsHierarchy?: boolean }[];
  readonly ruleActions: readonly string[];
  readonly userRoles: readonly string[];
  readonly contexts: Readonly<Record<'user' | 'environment' | 'request', readonly Path[]>>;
  readonly limits: Readonly<Record<string, number>>;
}

let admin: TestAdmin;
let catalogue: Catalogue;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: {
      Article: { fields: { title: { type: 'string' }, authorId: { type: 'reference', to: 'User' } } },
      Folder: { fields: { parentId: { type: 'reference', to: 'Folder', hierarchy: true } } },
      User: { fields: { managerId: { type: 'reference', to: 'User' }, desk: { type: 'enum', values: ['news', 'sports'] } } },
    },
  });
  catalogue = (await admin.bodyOf<{ readonly data: Catalogue }>('admin.catalogue.read')).data;
});
afterAll(() => admin.pipeline.dispose());

describe('GET /admin/api/catalogue', () => {
  it('describes the resources of the project and User, and no internal resource', () => {
    expect(catalogue.definitions.map(({ name }) => name).toSorted()).toEqual(['Article', 'Folder', 'User']);
    expect(catalogue.definitions.find(({ name }) => name === 'Article')?.fields.map(({ name }) => name)).toContain('authorId');
  });

  it('describes the audit log, which rules can name', () => {
    expect(catalogue.auditLog.name).toBe('_Decision');
    expect(catalogue.auditLog.fields.map(({ name }) => name)).toEqual(expect.arrayContaining(['resource', 'userId', 'allowed']));
  });

  it('lists every operator, action and role', () => {
    expect(catalogue.operators.map(({ name }) => name)).toEqual([...OPERATORS.keys(), 'within']);
    expect(catalogue.ruleActions).toEqual([...RULE_ACTIONS]);
    expect(catalogue.userRoles).toContain('admin');
  });

  it('says which operator needs a hierarchy, and which field refers to the parent of a record', () => {
    expect(catalogue.operators.filter(({ needsHierarchy }) => needsHierarchy === true).map(({ name }) => name)).toEqual(['within']);
    const folder = catalogue.definitions.find(({ name }) => name === 'Folder');
    expect(folder?.fields.filter(({ hierarchy }) => hierarchy === true).map(({ name }) => name)).toEqual(['parentId']);
    // Filters on records compare two values.
    expect(folder?.fields.flatMap(({ operators }) => operators)).not.toContain('within');
  });

  it('lists the paths of the user with their kinds, references and values, without secret fields', () => {
    const paths = new Map(catalogue.contexts.user.map((each) => [each.path, each]));
    expect(paths.get('user.managerId')).toMatchObject({ kind: 'text', to: 'User' });
    expect(paths.get('user.desk')?.values).toEqual(['news', 'sports']);
    expect(paths.get('user.role')?.values).toContain('anon');
    expect(paths.get('user.subject')).toEqual({ path: 'user.subject', kind: 'text' });
    expect(paths.has('user.password')).toBe(false);
  });

  it('lists the paths of the environment and the request', () => {
    const hours = catalogue.contexts.environment.find(({ path }) => path === 'environment.hour');
    expect(hours).toMatchObject({ kind: 'number', values: Array.from({ length: 24 }, (_, hour) => hour) });
    expect(catalogue.contexts.request).toContainEqual({ path: 'request.data' });
  });

  it('names the limits that policies are validated with', () => {
    expect(catalogue.limits).toMatchObject({ rules: admin.deps.limits.rules, depth: admin.deps.limits.conditions.depth });
  });

  it('answers 304 without a body if the caller has the current catalogue', async () => {
    const { headers } = await admin.send('admin.catalogue.read');
    const etag = headers?.['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(await admin.send('admin.catalogue.read', { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      body: undefined,
    });
    expect((await admin.send('admin.catalogue.read', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});
