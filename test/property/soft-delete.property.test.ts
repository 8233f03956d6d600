/** Random deletions, restores and creates have the effects of a simple model; random policies decide which soft-deleted records are listed. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseCasesOf } from '../budget.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const definitions = {
  'Folder.yaml': `name: Folder
softDelete: true
fields:
  slug: { type: string, required: true, unique: true }
  round: { type: integer, index: true }
`,
  'Page.yaml': `name: Page
softDelete: true
fields:
  slug:     { type: string, required: true, unique: true }
  round:    { type: integer, index: true }
  folderId: { type: reference, to: Folder, onDelete: cascade }
  parentId: { type: reference, to: Page, onDelete: cascade }
  ownerId:  { type: reference, to: User, onDelete: setNull }
`,
};

let service: RunningService;
let admin: TestUser;
beforeAll(async () => {
  service = await startService({ definitions, settings: { rateLimit: 0 } });
  admin = await service.admin();
});
afterAll(() => service.close());

const call = (method: string, path: string, body?: unknown, token = admin.token): Promise<Reply> =>
  service.call(method, path, { token, ...(body !== undefined && { body }) });
const idsAt = (reply: Reply): readonly string[] => (reply.at('data') as readonly { id: string }[]).map(({ id }) => id);

interface Modelled {
  readonly id: string;
  readonly resource: 'Folder' | 'Page';
  readonly slug: string;
  up: readonly string[];
  readonly depth: number;
  /** When the record was deleted; undefined if it is not. */
  deletedAt?: string | undefined;
}

/** A step on one of the records, by index. */
type Step = readonly [what: 'folder' | 'page' | 'link' | 'delete' | 'restore', first: number, second: number, slug: number];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(
    'folder' as const,
    'page' as const,
    'page' as const,
    'link' as const,
    'link' as const,
    'delete' as const,
    'delete' as const,
    'restore' as const,
    'restore' as const,
  ),
  fc.nat(30),
  fc.nat(30),
  fc.nat(8),
);

/** The model: the expected effect of each step on a list of records. */
type Model = Modelled[];

function notDeletedIn(model: Model, resource?: string): readonly Modelled[] {
  return model.filter((each) => each.deletedAt === undefined && (resource === undefined || each.resource === resource));
}

function statusOfCreate(model: Model, made: Modelled): number {
  if (!made.up.every((id) => notDeletedIn(model).some((each) => each.id === id))) return 422;
  return notDeletedIn(model, made.resource).some(({ slug }) => slug === made.slug) ? 409 : 201;
}

/** Returns a record and all matching records that reference it, directly or through matching records. */
function withReferencing(model: Model, top: Modelled, matches: (each: Modelled) => boolean): readonly Modelled[] {
  const found = [top];
  for (const each of found) found.push(...model.filter((other) => matches(other) && other.up.includes(each.id) && !found.includes(other)));
  return found;
}

function statusOfRestore(model: Model, back: readonly Modelled[]): number {
  const after = [...notDeletedIn(model), ...back];
  const clashes = back.some((one) => after.some((other) => other !== one && other.resource === one.resource && other.slug === one.slug));
  if (clashes) return 409;
  return back.every(({ up }) => up.every((id) => after.some((each) => each.id === id))) ? 200 : 422;
}

describe('random deletions and restores', () => {
  let round = 0;
  let circles = 0;
  /** Two pages that reference each other: one is deleted, the other restored. */
  const circle: Step[] = [
    ['page', 0, 0, 1],
    ['page', 0, 1, 2],
    ['link', 0, 2, 0],
    ['delete', 0, 0, 0],
    ['restore', 1, 0, 0],
  ];
  /** A chain of three pages: the top is deleted and restored. */
  const row: Step[] = [
    ['page', 0, 0, 1],
    ['page', 0, 1, 2],
    ['page', 0, 1, 3],
    ['delete', 0, 0, 0],
    ['restore', 0, 0, 0],
  ];

  async function create(model: Model, [what, first, second, slug]: Step): Promise<void> {
    const resource = what === 'folder' ? 'Folder' : 'Page';
    const of = (kind: string, index: number): Modelled | undefined => {
      const all = model.filter((each) => each.resource === kind && each.depth < 4);
      return index % 3 === 0 ? undefined : all[index % Math.max(1, all.length)];
    };
    const [folder, parent] = what === 'folder' ? [] : [of('Folder', first), of('Page', second)];
    const body = { slug: `${round}-${slug}`, round, ...(folder && { folderId: folder.id }), ...(parent && { parentId: parent.id }) };
    const reply = await call('POST', `/api/${resource}`, body);
    const up = [folder, parent].flatMap((each) => each?.id ?? []);
    const depth = 1 + Math.max(0, folder?.depth ?? 0, parent?.depth ?? 0);
    const made: Modelled = { id: String(reply.at('data.id')), resource, slug: body.slug, up, depth };
    expect(reply.status, reply.text).toBe(statusOfCreate(model, made));
    if (reply.status === 201) model.push(made);
  }

  /** Sets the parent of a page, often to form a circle. */
  async function link(model: Model, [, first, second]: Step): Promise<void> {
    const pages = model.filter(({ resource }) => resource === 'Page');
    const page = pages[first % pages.length];
    if (page === undefined) return;
    const under = second % 3 > 0 ? withReferencing(model, page, ({ deletedAt }) => deletedAt === undefined).toReversed() : pages;
    const parent = under[second % under.length] ?? page;
    const reply = await call('PUT', `/api/Page/${page.id}`, { parentId: parent.id });
    const expected = page.deletedAt !== undefined ? 404 : parent.deletedAt !== undefined ? 422 : 200;
    expect(reply.status, reply.text).toBe(expected);
    if (expected !== 200) return;
    const folders = model.filter(({ resource }) => resource === 'Folder').map(({ id }) => id);
    page.up = [...page.up.filter((id) => folders.includes(id)), parent.id];
  }

  async function remove(model: Model, one: Modelled): Promise<void> {
    const reply = await call('DELETE', `/api/${one.resource}/${one.id}`);
    expect(reply.status, reply.text).toBe(one.deletedAt === undefined ? 200 : 404);
    if (one.deletedAt !== undefined) return;
    const deletedAt = String((await call('GET', `/api/${one.resource}?deleted=true&where[id]=${one.id}`)).at('data.0.deletedAt'));
    for (const each of withReferencing(model, one, (other) => other.deletedAt === undefined)) each.deletedAt = deletedAt;
  }

  async function restore(model: Model, one: Modelled): Promise<void> {
    const { deletedAt } = one;
    const reply = await call('POST', `/api/${one.resource}/restore`, { id: one.id });
    const back = withReferencing(model, one, (other) => other.deletedAt === deletedAt);
    expect(reply.status, reply.text).toBe(deletedAt === undefined ? 404 : statusOfRestore(model, back));
    if (reply.status !== 200) return;
    for (const each of back) each.deletedAt = undefined;
    const isInCircle = (one: Modelled): boolean => withReferencing(model, one, () => true).some(({ id }) => one.up.includes(id));
    if (back.length > 1 && back.some(isInCircle)) circles += 1;
  }

  async function compare(model: Model): Promise<void> {
    for (const resource of ['Folder', 'Page']) {
      const stored = await call('GET', `/api/${resource}?where[round]=${round}&limit=100&total=true`);
      const softDeleted = await call('GET', `/api/${resource}?where[round]=${round}&limit=100&total=true&deleted=true`);
      const notDeleted = notDeletedIn(model, resource).map(({ id }) => id);
      const deleted = model.filter((each) => each.resource === resource && each.deletedAt !== undefined).map(({ id }) => id);
      expect([[...idsAt(stored)].sort(), stored.at('total')]).toEqual([notDeleted.sort(), notDeleted.length]);
      expect([[...idsAt(softDeleted)].sort(), softDeleted.at('total')]).toEqual([deleted.sort(), deleted.length]);
      for (const id of [...notDeleted, ...deleted]) {
        expect((await call('GET', `/api/${resource}/${id}`)).status).toBe(notDeleted.includes(id) ? 200 : 404);
      }
    }
  }

  it('stored and soft-deleted records equal the model after random steps, and unique values are enforced', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
        round += 1;
        const model: Model = [];
        for (const each of steps) {
          const [what, first] = each;
          const one = model[first % Math.max(1, model.length)];
          if (what === 'folder' || what === 'page') await create(model, each);
          else if (what === 'link') await link(model, each);
          else if (one !== undefined) await (what === 'delete' ? remove : restore)(model, one);
        }
        await compare(model);
      }),
      { numRuns: databaseCasesOf(20), examples: [[circle], [row]] },
    );
    expect(circles).toBeGreaterThan(0);
  });
});

describe('a list of soft-deleted records', () => {
  let caller: TestUser;
  let policy: string;
  let records: readonly Readonly<Record<string, unknown>>[];

  beforeAll(async () => {
    caller = await service.user();
    policy = await service.createPolicy({ userId: caller.id, rules: [] });
    const everything = { resource: 'Page', action: 'delete' };
    const other = await service.user();
    await service.createPolicy({ userId: other.id, rules: [everything] });
    const parents = [
      await service.createRecord('Page', { slug: 'list', round: 0 }),
      await service.createRecord('Page', { slug: 'delete', round: 0 }),
    ];
    for (let n = 0; n < 12; n++) {
      const values = { slug: ['list', 'delete', 'plain', 'list'][n % 4], round: -1 - (n % 3) };
      const references = {
        ...(n % 3 > 0 && { parentId: parents[n % 2] }),
        ...(n % 2 > 0 && { ownerId: n % 4 > 1 ? caller.id : other.id }),
      };
      const id = await service.createRecord('Page', { ...values, slug: `${values.slug}-${n}`, ...references });
      expect((await call('DELETE', `/api/Page/${id}`, undefined, n % 5 > 1 ? admin.token : other.token)).status).toBe(200);
    }
    // A record that a soft-deleted record references may be soft-deleted too.
    await call('DELETE', `/api/Page/${parents[1]}`);
    const listed = (await call('GET', '/api/Page?deleted=true&where[round][lt]=0&limit=100')).at('data') as typeof records;
    records = listed.map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)));
    expect(records).toHaveLength(12);
  });

  const is = (field: string, operator: string, value: unknown, more: object = {}): object => ({ field, operator, value, ...more });
  // The two decisions use different actions: `list-3` and `delete-5`.
  const inMemory = { expression: 'resource.slug.size() == request.action.size() + 2' };
  const condition = fc.constantFrom<object>(
    is('resource.round', 'eq', -1),
    is('resource.round', 'ne', -2),
    is('resource.slug', 'startsWith', 'list'),
    is('resource.slug', 'matches', '[13579]$'),
    is('resource.deletedBy', 'eq', '${user.id}'),
    is('resource.deletedBy', 'ne', '${user.id}'),
    is('resource.deletedAt', 'exists', true),
    is('resource.ownerId', 'eq', '${user.id}'),
    is('resource.ownerId', 'ne', '${user.id}', { ifExists: true }),
    is('resource.parentId.slug', 'eq', 'list'),
    is('resource.parentId.slug', 'exists', false),
    is('request.action', 'eq', 'delete'),
    is('resource.slug', 'startsWith', '${request.action}'),
    inMemory,
    { expression: 'request.action == "list" || resource.round < -1' },
    { expression: 'resource.parentId.slug == request.action' },
  );
  const rule = fc.record({
    resource: fc.constant('Page'),
    action: fc.constantFrom('list', 'delete', 'delete', '*', '*'),
    effect: fc.constantFrom('ALLOW', 'ALLOW', 'DENY'),
    priority: fc.constantFrom(100, 200),
    conditions: fc.array(condition, { maxLength: 2 }),
  });

  type Rule = typeof rule extends fc.Arbitrary<infer Value> ? Value : never;
  const allow = { resource: 'Page', effect: 'ALLOW', priority: 100 } as const;
  const forListAndDelete: Rule[] = [
    { ...allow, action: 'list', conditions: [] },
    { ...allow, action: 'delete', conditions: [inMemory] },
  ];

  async function isAllowed(action: string, record: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { id: _, ...values } = record;
    const request = { user: { id: caller.id, role: 'user' }, resource: { name: 'Page', ...values, id: record['id'] }, action };
    const reply = await call('POST', '/admin/api/policies/test-access', request);
    expect(reply.status, reply.text).toBe(200);
    return reply.at('data.allowed') === true;
  }

  it('lists exactly the soft-deleted records that the caller may both list and delete', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 5 }), fc.boolean(), async (rules, isScanned) => {
        expect((await call('PUT', `/admin/api/policies/${policy}`, { rules })).status).toBe(200);
        const expected: unknown[] = [];
        for (const record of records)
          if ((await isAllowed('list', record)) && (await isAllowed('delete', record))) expected.push(record['id']);
        const where = isScanned ? '&where[slug][matches]=.' : '';
        const listed = await call('GET', `/api/Page?deleted=true&where[round][lt]=0&limit=100&total=true${where}`, undefined, caller.token);
        if (listed.status === 403) expect(expected).toEqual([]);
        else expect([...idsAt(listed)].sort()).toEqual(expected.sort());
        const total = listed.at('total');
        if (total !== undefined) expect(total).toBe(expected.length);
      }),
      { numRuns: databaseCasesOf(25), examples: [[forListAndDelete, false]] },
    );
  });
});
