/** Through HTTP, under random policies: a list and an export show exactly the records that are read one by one. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, OPERATORS } from '../src/operators/index.ts';
import { COLUMNS, type Column } from './conformance/hostile-table.ts';
import { type Reply, type RunningService, startService, type TestUser } from './harness.ts';

const RECORDS = 60;
const CASES = 250;

const TYPES: ReadonlyMap<string, string> = new Map(
  COLUMNS.map(({ name, type, field }) => [name, type === 'list' ? `{ type: list, of: ${field.of?.type} }` : `{ type: ${type} }`]),
);
const definitions = {
  'Thing.yaml': `name: Thing\nfields:\n${[...TYPES].map(([name, type]) => `  ${name}: ${type}\n`).join('')}`,
  'User.yaml':
    'name: User\nfields:\n  team: { type: text }\n  level: { type: number }\n  fee: { type: decimal }\n  teams: { type: list, of: string }\n  none: { type: text }\n',
};

let service: RunningService;
let user: TestUser;
let policy: string;
let ids: readonly string[];

beforeAll(async () => {
  service = await startService({ definitions, settings: { rateLimit: 0 } });
  user = await service.user({ team: 'a', level: 10, fee: '12.30', teams: ['a', 'b'] });
  policy = await service.createPolicy({ userId: user.id, rules: [{ resource: 'Thing', action: 'read' }] });
  const data = Array.from({ length: RECORDS }, (_, row) =>
    Object.fromEntries(COLUMNS.flatMap((column, index) => cell(column, row, index))),
  );
  ids = (await asAdmin('POST', '/api/Thing/import', { data })).at('data') as readonly string[];
});
afterAll(() => service.close());

/** Of every column its values in turn, and now and then none. */
function cell({ name, values }: Column, row: number, index: number): readonly (readonly [string, Json])[] {
  const value = values[(row * (index + 1)) % (values.length + 1)];
  return value === undefined || value === null ? [] : [[name, value]];
}

const text = fc.constantFrom('a', 'ab', '10', '', '😀', '%', 'ss', '2026-01-31', `\${user.team}`, `\${user.none}`);
/** Right sides by what an operator takes; some fit no column, and such a policy is refused. */
const operandsOf = ({ values, kind }: Column): Readonly<Record<string, fc.Arbitrary<Json>>> => {
  const items: readonly Json[] = kind.kind === 'list' ? values.flat() : values;
  const scalar = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Json>(...items) },
    fc.constantFrom(`\${user.team}`, `\${user.level}`, `\${user.fee}`, `\${user.none}`, `\${resource.title}`),
  );
  return {
    scalar,
    scalars: fc.oneof({ weight: 4, arbitrary: fc.array(scalar, { maxLength: 4 }) }, fc.constant(`\${user.teams}`)),
    range: fc.tuple(scalar, scalar),
    text,
    pattern: fc.constantFrom('^a', 'b$', '[0-9]', '.'),
    boolean: fc.boolean(),
    duration: fc.constantFrom('1h', 'P1D', '30000d'),
    time: fc.constantFrom<Json>('2026-01-31T12:00:00Z', ...items),
    timesOfDay: fc.constantFrom(['00:00', '12:00'], ['22:00', '11:59']),
    daysOfWeek: fc.constantFrom([6], [1, 2, 3, 4, 5], []),
    networks: fc.constantFrom<Json>('10.0.0.0/8', ['2001:db8::/32', '10.1.0.0/16']),
  };
};

const comparison = fc.constantFrom(...COLUMNS).chain((column) => {
  const operators = [...OPERATORS.values()].filter(({ kinds }) => kinds.includes(column.kind.kind));
  return fc.constantFrom(...operators).chain(({ name, operand }) =>
    fc.record({
      field: fc.constant(`resource.${column.name}`),
      operator: fc.constant(name),
      value: operandsOf(column)[operand] ?? text,
      ifExists: fc.boolean(),
    }),
  );
});
const others = fc.constantFrom<object>(
  { field: 'user.team', operator: 'eq', value: `\${resource.title}` },
  { field: 'user.teams', operator: 'hasAny', value: `\${resource.tags}` },
  { field: 'user.level', operator: 'gte', value: `\${resource.amount}` },
  { field: 'user.fee', operator: 'ne', value: `\${resource.price}` },
  { field: 'user.none', operator: 'eq', value: 'a' },
  { field: 'resource.extra.a', operator: 'eq', value: 1 },
  { field: 'environment.hour', operator: 'between', value: [0, 23] },
  ...[
    'resource.title != user.team',
    'size(resource.title) > 1 && resource.active',
    'resource.tags.exists(t, t == "a") || resource.amount < 2.0',
    'resource.extra != "10"',
    '!(resource.title in user.teams)',
  ].map((expression) => ({ expression })),
);

const { condition } = fc.letrec<{ condition: object }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: comparison },
    { weight: 2, arbitrary: others },
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((allOf) => ({ allOf })),
    tie('condition').map((not) => ({ not })),
  ),
}));
const rule = fc.record({
  effect: fc.constantFrom('ALLOW', 'ALLOW', 'DENY'),
  priority: fc.constantFrom(100, 200, 300),
  conditions: fc.array(condition, { maxLength: 2 }),
});

it('whatever the rules, a list shows what is read one by one', async () => {
  let tried = 0;
  let telling = 0;
  const check = async (rules: readonly object[]): Promise<void> => {
    const same = rules.flatMap((one) => ['list', 'read', 'export'].map((action) => ({ resource: 'Thing', action, ...one })));
    const written = await service.call('PUT', `/admin/api/policies/${policy}`, {
      token: (await service.admin()).token,
      body: { rules: same },
    });
    expect([200, 422], written.text).toContain(written.status);
    fc.pre(written.status === 200);
    const readable = await readEach();
    expect([await listAll('list'), await listAll('export')]).toEqual([readable, readable]);
    tried++;
    if (readable.length > 0 && readable.length < RECORDS) telling++;
  };
  await fc.assert(fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 4 }), check), { numRuns: CASES, maxSkipsPerRun: 20 });
  expect(tried).toBe(CASES);
  expect(telling).toBeGreaterThan(CASES / 10);
}, 120_000);

async function readEach(): Promise<readonly string[]> {
  const reply = await as(user.token, 'POST', '/api/batch', { requests: ids.map((id) => ({ resource: 'Thing', action: 'read', id })) });
  const statuses = (reply.at('data') as readonly { readonly status: number }[]).map(({ status }) => status);
  for (const status of statuses) expect([200, 403]).toContain(status);
  return ids.filter((_, index) => statuses[index] === 200).toSorted();
}

/** By pages, so that cursors are part of it. */
async function listAll(action: 'list' | 'export'): Promise<readonly string[]> {
  const listed: string[] = [];
  let cursor: unknown;
  do {
    const body = { limit: 25, sort: '-title,amount', ...(typeof cursor === 'string' && { cursor }) };
    const page = await as(user.token, 'POST', `/api/Thing/${action}`, body);
    if (page.status === 403) return [];
    expect(page.status, page.text).toBe(200);
    listed.push(...(page.at('data') as readonly { readonly id: string }[]).map(({ id }) => id));
    cursor = page.at('nextCursor');
  } while (cursor !== undefined);
  return listed.toSorted();
}

async function as(token: string, method: string, path: string, body: unknown): Promise<Reply> {
  return service.call(method, path, { token, body });
}

async function asAdmin(method: string, path: string, body: unknown): Promise<Reply> {
  const reply = await as((await service.admin()).token, method, path, body);
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply;
}
