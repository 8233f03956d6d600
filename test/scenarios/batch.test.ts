/** Batches: every action with its members in `data`, references to earlier requests, and atomic batches. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

const definitions = {
  'Product.yaml': `name: Product
fields:
  name: { type: string, required: true, unique: true }
  stock: { type: integer, min: 0, default: 0 }
  price: { type: decimal }
`,
  'Order.yaml': `name: Order
softDelete: true
fields:
  note: { type: string }
  state: { type: enum, values: [open, cancelled], default: open }
`,
  'Line.yaml': `name: Line
softDelete: true
fields:
  orderId: { type: reference, to: Order, onDelete: cascade, required: true }
  productId: { type: reference, to: Product, onDelete: restrict }
  quantity: { type: integer, min: 1, default: 1 }
  about: { type: json }
`,
};

let service: RunningService;
let admin: TestUser;
/** A user who may do everything with own orders and lines, and may read and update products that have a price. */
let customer: TestUser;
beforeAll(async () => {
  service = await startService({ definitions });
  admin = await service.admin();
  customer = await service.user();
  const forSale = [{ field: 'resource.price', operator: 'gt', value: '0' }];
  await service.createPolicy({
    role: 'user',
    rules: [
      ...['Order', 'Line'].map((resource) => ({
        resource,
        action: '*',
        conditions: [{ field: 'resource.createdBy', operator: 'eq', value: `\${user.id}` }],
      })),
      { resource: 'Product', action: 'read', conditions: forSale },
      { resource: 'Product', action: 'update', conditions: forSale },
    ],
  });
});
afterAll(() => service.close());

interface Sent {
  readonly resource: string;
  readonly action: string;
  readonly [member: string]: unknown;
}

interface Item {
  readonly status: number;
  readonly data?: { readonly id: string } & Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly detail: string; readonly errors?: readonly object[] };
  readonly decisionId?: string;
  readonly [extra: string]: unknown;
}

const send = (requests: readonly Sent[], { atomic = false, by = admin } = {}): Promise<Reply> =>
  service.call('POST', '/api/batch', { token: by.token, body: { requests, ...(atomic && { atomic }) } });
const itemsOf = (reply: Reply): readonly Item[] => {
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data') as readonly Item[];
};
const product = (name: string, stock: number): Promise<string> => service.createRecord('Product', { name, stock, price: '9.90' });
const stockOf = async (id: string): Promise<unknown> =>
  (await service.call('GET', `/api/Product/${id}`, { token: admin.token })).at('data.stock');
const count = async (resource: string, where = ''): Promise<unknown> =>
  (await service.call('GET', `/api/${resource}?total=true&limit=1${where}`, { token: admin.token })).at('total');

describe('a batch', () => {
  it('a batch accepts resource, action and data for every action, and writes an audit entry for each decision', async () => {
    const id = await product('everything', 5);
    const gone = await service.createRecord('Order', { note: 'gone' });
    const requests: readonly (readonly [Sent, number, Readonly<Record<string, unknown>>])[] = [
      [{ resource: 'Product', action: 'create', data: { name: 'created', stock: 1 } }, 201, { data: { name: 'created' } }],
      [{ resource: 'Product', action: 'read', data: { id } }, 200, { data: { id, stock: 5 } }],
      [{ resource: 'Product', action: 'update', data: { id, stock: { increment: -1 } } }, 200, { data: { id, stock: 4 } }],
      [
        { resource: 'Product', action: 'list', data: { where: { name: { in: ['created', 'everything'] } }, sort: 'name' } },
        200,
        { count: 2 },
      ],
      [{ resource: 'Product', action: 'list', data: {} }, 200, { count: 2 }],
      [{ resource: 'Product', action: 'export', data: { limit: 1 } }, 200, { count: 1 }],
      [{ resource: 'Product', action: 'import', data: { data: [{ name: 'imported' }] } }, 201, { count: 1 }],
      [
        { resource: 'Product', action: 'createIfNotExists', data: { filter: { stock: { gt: 3 } }, data: { name: 'never' } } },
        200,
        { created: false, data: { id } },
      ],
      [
        { resource: 'Product', action: 'updateIfExists', data: { filter: { id, stock: { gte: 4 } }, data: { stock: { increment: -4 } } } },
        200,
        { updated: true, data: { id, stock: 0 } },
      ],
      [{ resource: 'Product', action: 'schema', data: {} }, 200, { data: { name: 'Product' } }],
      [{ resource: 'Order', action: 'delete', data: { id: gone } }, 200, { data: { id: gone } }],
      [{ resource: 'Order', action: 'listDeleted', data: {} }, 200, { count: 1 }],
      [{ resource: 'Order', action: 'restore', data: { id: gone } }, 200, { data: { id: gone } }],
    ];
    const items = itemsOf(await send(requests.map(([request]) => request)));
    expect(items).toMatchObject(
      requests.map(([, status, members]) => ({ status, success: true, ...members, decisionId: expect.any(String) })),
    );
    const decided = [
      'create',
      'read',
      'update read',
      'list',
      'list',
      'export',
      'import',
      'create read',
      'update read',
      'read',
      'delete',
      'list delete',
      'delete',
    ];
    const entries = await service.decisions('limit=17&kind=access');
    expect(entries.map(({ action }) => action).reverse()).toEqual(decided.flatMap((actions) => actions.split(' ')));
    expect(await send([{ resource: 'Order', action: 'delete', data: { id: gone } }]).then(itemsOf)).toMatchObject([{ status: 200 }]);
  });

  it('a batch resolves references to records of earlier requests, and keeps escaped references as text', async () => {
    const id = await product('referred', 5);
    const items = itemsOf(
      await send([
        { resource: 'Order', action: 'create', data: { note: '$$0.id' } },
        { resource: 'Product', action: 'createIfNotExists', data: { filter: { name: 'referred' }, data: { name: 'x' } } },
        { resource: 'Line', action: 'create', data: { orderId: '$0.id', productId: '$1.id', about: { order: ['$0.id', 'of $0.id'] } } },
        { resource: 'Line', action: 'update', data: { id: '$2.id', quantity: 2 } },
        { resource: 'Line', action: 'list', data: { where: { orderId: '$0.id' } } },
        {
          resource: 'Line',
          action: 'updateIfExists',
          filter: { orderId: '$0.id', quantity: { gt: 1 } },
          data: { quantity: { increment: 1 } },
        },
        { resource: 'Order', action: 'read', id: '$0.id' },
      ]),
    );
    const [order, , line] = items.map(({ data }) => data?.id);
    expect(items.map(({ status }) => status)).toEqual([201, 200, 201, 200, 200, 200, 200]);
    expect(items[0]?.data).toMatchObject({ note: '$0.id' });
    expect(items[2]?.data).toMatchObject({ orderId: order, productId: id, about: { order: [order, 'of $0.id'] } });
    expect(items[4]).toMatchObject({ count: 1 });
    expect(items[5]?.data).toMatchObject({ id: line, quantity: 3 });
    const alone = await service.call('POST', '/api/Order', { token: admin.token, body: { note: '$0.id' } });
    expect(alone.at('data.note')).toBe('$0.id');
    await send([order, alone.at('data.id')].map((each) => ({ resource: 'Order', action: 'delete', data: { id: each } })));
  });

  it('a batch undoes a dry run, keeps the changes before and after it, and records each decision once', async () => {
    const id = await service.createRecord('Order', { note: 'kept' });
    await service.createRecord('Line', { orderId: id });
    const create = (note: string): Sent => ({ resource: 'Order', action: 'create', data: { note } });
    const requests = [create('before'), { resource: 'Order', action: 'delete', data: { id, dryRun: true } }, create('after')];
    expect(itemsOf(await send(requests)).map(({ status }) => status)).toEqual([201, 200, 201]);
    const notes = (await service.call('GET', '/api/Order?sort=note', { token: admin.token })).at('data') as readonly { note?: string }[];
    expect(notes.map(({ note }) => note)).toEqual(expect.arrayContaining(['after', 'before', 'kept']));
    expect(await count('Line', `&where[orderId]=${id}`)).toBe(1);
    const entries = await service.decisions('limit=6&kind=access&resource=Order');
    expect(entries.map(({ action }) => action)).toEqual(['list', 'create', 'delete', 'create', 'create', 'delete']);
    await send([{ resource: 'Order', action: 'delete', data: { id } }]);
  });

  it('a batch fails a request that references a request without a record, and keeps the other changes', async () => {
    const items = itemsOf(
      await send([
        { resource: 'Order', action: 'create', data: { state: 'lost' } },
        { resource: 'Line', action: 'create', data: { orderId: '$0.id' } },
        { resource: 'Product', action: 'updateIfExists', data: { filter: { name: 'no such' }, data: {} } },
        { resource: 'Product', action: 'read', data: { id: '$2.id' } },
        { resource: 'Line', action: 'create', data: { orderId: '$6.id' } },
        { resource: 'Product', action: 'frobnicate', data: {} },
        { resource: 'Line', action: 'create', data: { orderId: '$5.id' } },
        { resource: 'Order', action: 'list', data: {} },
      ]),
    );
    expect(items.map(({ status, error }) => [status, error?.code])).toEqual([
      [422, 'VALUE_INVALID'],
      [424, 'BATCH_DEPENDENCY'],
      [200, undefined],
      [424, 'BATCH_DEPENDENCY'],
      [400, 'REQUEST_MALFORMED'],
      [404, 'REQUEST_NO_ROUTE'],
      [424, 'BATCH_DEPENDENCY'],
      [200, undefined],
    ]);
    expect(items[4]?.error?.errors).toMatchObject([{ path: 'data.orderId', code: 'range' }]);
  });
});

/** Requests that order two units of a product in two lines and take them from stock. */
const checkout = (id: string): readonly Sent[] => [
  { resource: 'Order', action: 'create', data: { note: 'checkout' } },
  { resource: 'Line', action: 'create', data: { orderId: '$0.id', productId: id, quantity: 1 } },
  { resource: 'Line', action: 'create', data: { orderId: '$0.id', productId: id, quantity: 1 } },
  { resource: 'Product', action: 'updateIfExists', data: { filter: { id, stock: { gte: 2 } }, data: { stock: { increment: -2 } } } },
];

/** Requests of which the first ends the session of its caller. */
const endSession = ({ id, password }: TestUser): readonly Sent[] => [
  { resource: 'User', action: 'update', data: { id, password: 'a longer horse battery', currentPassword: password } },
  { resource: 'User', action: 'read', data: { id } },
];

describe('a batch that ends the session of its caller', () => {
  it('a batch records the refusal of a request that follows the end of its session', async () => {
    const by = await service.user({ role: 'admin' });
    const [, refused] = itemsOf(await send(endSession(by), { by }));
    expect(refused).toMatchObject({ status: 401, error: { code: 'IDENTITY_TOKEN' }, decisionId: expect.any(String) });
    expect(await service.decisions(`kind=auth&action=token&userId=${by.id}`)).toMatchObject([
      { id: (refused as { decisionId?: unknown }).decisionId, allowed: false, outcome: 'IDENTITY_TOKEN' },
    ]);
  });

  it('an atomic batch refuses a request that follows the end of its session, which stays open', async () => {
    const by = await service.user({ role: 'admin' });
    const reply = await send(endSession(by), { by, atomic: true });
    expect(reply.body).toMatchObject({ status: 409, code: 'BATCH_SESSION_ENDED', errors: [{ path: 'requests.1' }] });
    expect(reply.headers).not.toHaveProperty('www-authenticate');
    expect((await service.call('GET', '/auth/me', { token: by.token })).status).toBe(200);
    const entries = await service.decisions(`userId=${by.id}&resource=User&action=update`);
    expect(entries).toMatchObject([{ allowed: true, outcome: 'BATCH_ABORTED' }]);
  });
});

describe('an atomic batch', () => {
  it('an atomic batch takes stock, or stores neither order nor lines; each decision keeps its audit entry', async () => {
    const id = await product('scarce', 3);
    expect(itemsOf(await send(checkout(id), { atomic: true, by: customer })).map(({ status }) => status)).toEqual([201, 201, 201, 200]);
    expect(await stockOf(id)).toBe(1);
    const before = await count('Order');
    const reply = await send(checkout(id), { atomic: true, by: customer });
    expect(reply.body).toMatchObject({ status: 409, code: 'RECORD_UNMATCHED', errors: [{ path: 'requests.3', code: 'RECORD_UNMATCHED' }] });
    expect([await stockOf(id), await count('Order'), await count('Line')]).toEqual([1, before, 2]);
    const entries = await service.decisions(`limit=5&userId=${customer.id}`);
    expect(entries.map(({ action, resource, outcome }) => `${resource} ${action} ${outcome}`).reverse()).toEqual([
      'Order create BATCH_ABORTED',
      'Line create BATCH_ABORTED',
      'Line create BATCH_ABORTED',
      'Product update RECORD_UNMATCHED',
      'Product read RECORD_UNMATCHED',
    ]);
    expect(reply.at('decisionId')).toBe(entries[1]?.['id']);
  });

  it('an atomic batch continues after an optional request without a match, and fails a request that references it', async () => {
    const optional = { resource: 'Product', action: 'updateIfExists', data: { filter: { name: 'no such' }, data: {} }, optional: true };
    expect(itemsOf(await send([optional], { atomic: true }))).toMatchObject([{ status: 200, updated: false }]);
    const reply = await send([optional, { resource: 'Product', action: 'read', data: { id: '$0.id' } }], { atomic: true });
    expect(reply.body).toMatchObject({ status: 424, code: 'BATCH_DEPENDENCY', errors: [{ path: 'requests.1' }] });
  });

  it('an atomic batch returns the same error for short stock, a hidden product and an unknown product', async () => {
    const hidden = await service.createRecord('Product', { name: 'hidden', stock: 50 });
    const [short, none] = [await product('short', 1), '01900000-0000-7000-8000-000000000000'];
    const bodies = await Promise.all(
      [hidden, short, none].map((id) => send(checkout(id).slice(3), { atomic: true, by: customer }).then(({ text }) => text)),
    );
    const plain = bodies.map((text) => text.replaceAll(/"(requestId|decisionId)":"[^"]*"/g, ''));
    expect(new Set(plain).size).toBe(1);
    expect(await stockOf(hidden)).toBe(50);
  });

  it('five of twenty concurrent atomic batches take two of ten in stock, and stock is never negative', async () => {
    const id = await product('contested', 10);
    const before = [await count('Order'), await count('Line')] as [number, number];
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(checkout(id), { atomic: true, by: customer })));
    const statuses = replies.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(409)]);
    const left = replies.flatMap((reply) => (reply.status === 200 ? [reply.at('data.3.data.stock')] : []));
    expect(left.toSorted()).toEqual([0, 2, 4, 6, 8]);
    expect([await stockOf(id), await count('Order'), await count('Line')]).toEqual([0, before[0] + 5, before[1] + 10]);
  });
});
