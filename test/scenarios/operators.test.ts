/** Every operator finds the same records in a query, in a body, and in a policy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../src/operators/index.ts';
import { startService } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

const THING = `
name: Thing
fields:
  key:    { type: string, required: true }
  name:   { type: string }
  number: { type: integer }
  price:  { type: decimal }
  flag:   { type: boolean }
  day:    { type: date }
  at:     { type: timestamp }
  moment: { type: timestamp }
  tags:   { type: list, of: string }
  host:   { type: string }
`;

const HOUR = 3_600_000;
const fromNow = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();

/** Records `a` to `e`. `e` has no values, so neither a comparison nor its negation is true of it. */
const THINGS = (): readonly object[] => [
  {
    key: 'a',
    name: 'Ärger 100%',
    number: 10,
    price: '1.10',
    flag: true,
    day: '2026-01-05',
    at: fromNow(-1),
    moment: '2026-01-05T23:30:00Z',
    tags: ['x', 'y'],
    host: '10.1.2.3',
  },
  {
    key: 'b',
    name: 'alpha',
    number: 10,
    price: '1.20',
    flag: false,
    day: '2026-01-10',
    at: fromNow(-72),
    moment: '2026-01-10T05:59:59Z',
    tags: ['x'],
    host: '192.168.0.1',
  },
  {
    key: 'c',
    name: 'Alpha_beta',
    number: 20,
    price: '10.00',
    flag: true,
    day: '2026-02-01',
    at: fromNow(1),
    moment: '2026-02-01T12:00:00Z',
    tags: [],
    host: '2001:db8::1',
  },
  {
    key: 'd',
    name: 'zeta',
    number: -5,
    price: '0.05',
    flag: false,
    day: '2026-03-01',
    at: fromNow(72),
    moment: '2026-03-01T06:00:00Z',
    tags: ['z'],
    host: 'a name',
  },
  { key: 'e' },
];

/** An operator, a field, an operand, and the keys of the records that match. */
const ROWS: readonly (readonly [operator: string, field: string, operand: unknown, keys: string])[] = [
  ['eq', 'number', 10, 'ab'],
  ['eq', 'price', '1.2', 'b'],
  ['eq', 'flag', true, 'ac'],
  ['eq', 'day', '2026-01-10', 'b'],
  ['eq', 'moment', '2026-01-06T00:30:00+01:00', 'a'],
  ['ne', 'number', 10, 'cd'],
  ['ne', 'name', 'alpha', 'acd'],
  ['gt', 'number', 10, 'c'],
  ['gt', 'price', '1.15', 'bc'],
  ['gte', 'number', 10, 'abc'],
  ['lt', 'number', 10, 'd'],
  ['lt', 'name', 'alpha', 'c'],
  ['lte', 'day', '2026-01-10', 'ab'],
  ['between', 'number', [-5, 10], 'abd'],
  ['between', 'price', ['0.05', '1.1'], 'ad'],
  ['in', 'number', [10, 20], 'abc'],
  ['in', 'name', [], ''],
  ['nin', 'number', [10], 'cd'],
  ['nin', 'number', [], 'abcd'],
  ['contains', 'name', 'a', 'bcd'],
  ['contains', 'name', '%', 'a'],
  ['ncontains', 'name', 'a', 'a'],
  ['startsWith', 'name', 'Al', 'c'],
  ['endsWith', 'name', 'eta', 'cd'],
  ['icontains', 'name', 'ALPHA', 'bc'],
  ['incontains', 'name', 'ALPHA', 'ad'],
  ['istartsWith', 'name', 'ä', 'a'],
  ['iendsWith', 'name', 'ETA', 'cd'],
  ['like', 'name', '?lpha', 'b'],
  ['like', 'name', '*_*', 'c'],
  ['matches', 'name', '^[a-z]+$', 'bd'],
  ['exists', 'number', true, 'abcd'],
  ['exists', 'number', false, 'e'],
  ['isNull', 'number', true, 'e'],
  ['isNull', 'tags', false, 'abcd'],
  ['empty', 'tags', true, 'c'],
  ['empty', 'tags', false, 'abd'],
  ['has', 'tags', 'x', 'ab'],
  ['hasAny', 'tags', ['y', 'z'], 'ad'],
  ['hasAll', 'tags', ['x', 'y'], 'a'],
  ['subsetOf', 'tags', ['x'], 'bc'],
  ['before', 'moment', '2026-01-10T06:59:59+01:00', 'a'],
  ['before', 'day', '2026-01-10', 'a'],
  ['after', 'moment', '2026-01-10T05:59:59Z', 'cd'],
  ['withinLast', 'at', '24h', 'a'],
  ['withinLast', 'at', '7d', 'ab'],
  ['withinNext', 'at', 'PT30H', 'c'],
  ['timeOfDayBetween', 'moment', ['22:00', '06:00'], 'ab'],
  ['dayOfWeekIn', 'day', [6, 7], 'bcd'],
  ['cidr', 'host', '10.0.0.0/8', 'a'],
  ['cidr', 'host', ['10.0.0.0/8', '2001:db8::/32'], 'ac'],
  ['ncidr', 'host', '10.0.0.0/8', 'bc'],
];

let context: ScenarioContext;
beforeAll(async () => {
  const service = await startService({ definitions: { 'Thing.yaml': THING } });
  const admin = await service.admin();
  const user = await service.user();
  const kept = new Map<string, string>();
  for (const thing of THINGS()) kept.set((thing as { key: string }).key, await service.createRecord('Thing', { ...thing }));
  kept.set('policy', await service.createPolicy({ role: 'user', rules: [{ resource: 'Thing', action: '*' }] }));
  const tokens = new Map([
    ['admin', admin.token],
    ['user', user.token],
  ]);
  context = { service, tokens, kept };
});
afterAll(() => context.service.close());

const named = ([operator, field, operand, keys]: (typeof ROWS)[number]): string =>
  `${keys === '' ? 'no record' : keys} by ${field} ${operator} ${JSON.stringify(operand)}`;
const recordsOf = (keys: string): object[] => [...keys].map((key) => ({ key }));

it('every operator has a test', () => {
  expect([...OPERATORS.keys()].filter((name) => !ROWS.some(([operator]) => operator === name))).toEqual([]);
});

describe('operators in the query of a list', () => {
  checkScenarios(
    () => context,
    ROWS.map((row): Scenario => {
      const [operator, field, operand, keys] = row;
      const text = encodeURIComponent(Array.isArray(operand) ? operand.join(',') : String(operand));
      return {
        name: `a query finds ${named(row)}`,
        as: 'admin',
        send: `GET /api/Thing?where[${field}][${operator}]=${text}&sort=key&limit=10`,
        status: 200,
        body_has: { count: keys.length, data: recordsOf(keys) },
        entries: [{ action: 'list', allowed: true }],
      };
    }),
  );
});

describe('operators in the body of a list', () => {
  checkScenarios(
    () => context,
    ROWS.map((row): Scenario => {
      const [operator, field, operand, keys] = row;
      return {
        name: `a body finds ${named(row)}`,
        as: 'admin',
        send: 'POST /api/Thing/list',
        body: { where: { [field]: { [operator]: operand } }, sort: 'key' },
        status: 200,
        body_has: { count: keys.length, data: recordsOf(keys) },
        entries: [{ action: 'list', allowed: true }],
      };
    }),
  );
});

describe('operators in a policy', () => {
  it.each(ROWS.map((row) => [named(row), ...row] as const))(
    'a policy allows the list and the single reads of %s',
    async (_, operator, field, value, keys) => {
      const { service, tokens, kept } = context;
      const rules = [{ resource: 'Thing', action: '*', conditions: [{ field: `resource.${field}`, operator, value }] }];
      const put = await service.call('PUT', `/admin/api/policies/${kept.get('policy')}`, { token: tokens.get('admin'), body: { rules } });
      expect(put.status, put.text).toBe(200);
      const token = tokens.get('user');
      const listed = (await service.call('GET', '/api/Thing?sort=key', { token })).at('data') as { key: string }[];
      expect(listed.map(({ key }) => key).join('')).toBe(keys);
      let readable = '';
      for (const key of 'abcde') if ((await service.call('GET', `/api/Thing/${kept.get(key)}`, { token })).status === 200) readable += key;
      expect(readable).toBe(keys);
    },
  );
});
