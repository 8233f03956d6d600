/** Under random policies, who-can returns exactly the users whom access tests allow. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { type AccessQueryService, REACHING, type Row, startAccessQueryService } from '../scenarios/access-query-service.ts';

const CASES = casesOf(30);

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
afterAll(() => world.service.close());

/** Active users in order of their ids. */
const USER_NAMES = ['maya', 'noor', 'omar', 'pia', 'quin'];

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const OWN = eq('resource.authorId', `\${user.id}`);
const SPORTS = eq('user.department', 'sports');

const condition = fc.constantFrom<object>(
  ...REACHING,
  SPORTS,
  OWN,
  eq('resource.status', 'draft'),
  eq('user.teamId.name', 'night'),
  eq('resource.authorId.department', 'sports'),
  { field: 'user.level', operator: 'gte', value: 2 },
  { field: 'user.level', operator: 'lt', value: 3, ifExists: true },
  { field: 'user.teamId', operator: 'exists', value: false },
  { field: 'environment.hour', operator: 'between', value: [8, 18] },
  { field: 'environment.ip', operator: 'cidr', value: '10.0.0.0/8' },
  { not: SPORTS },
  { anyOf: [OWN, eq('user.role', 'editor')] },
  { expression: 'size(user.department) > 6' },
);
const rule = fc.record({
  resource: fc.constantFrom('Article', '*'),
  action: fc.constantFrom('read', 'list', '*'),
  effect: fc.constantFrom('ALLOW', 'ALLOW', 'DENY'),
  priority: fc.constantFrom(100, 200),
  conditions: fc.array(condition, { maxLength: 2 }),
});
const assignedPolicy = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  priority: fc.constantFrom(100, 150),
  roles: fc.uniqueArray(fc.constantFrom('anon', 'user', 'editor'), { maxLength: 2 }),
  user: fc.constantFrom(undefined, 'maya', 'pia', 'gone'),
});
const randomRequest = fc.record({
  action: fc.constantFrom('read', 'list'),
  article: fc.constantFrom('own', 'other', 'bare', undefined),
  environment: fc.record({
    timestamp: fc.constantFrom('2026-01-31T09:00:00Z', '2026-01-31T23:00:00Z'),
    ip: fc.constantFrom('10.0.0.1', '192.0.2.1'),
  }),
  limit: fc.constantFrom(1, 2, 50),
});

it('who-can returns exactly the users whom access tests allow', async () => {
  let [tried, distinguishing] = [0, 0];
  const property = fc.asyncProperty(fc.array(assignedPolicy, { minLength: 1, maxLength: 4 }), randomRequest, async (policies, request) => {
    await world.forget();
    for (const { user, ...one } of policies) await world.policy({ ...one, ...(user !== undefined && { userId: world.idOf(user) }) });
    const id = request.article === undefined ? {} : { id: world.idOf(request.article) };
    // Without a record, an access test decides with an unknown record only for lists.
    const about = { action: request.article === undefined ? 'list' : request.action, environment: request.environment };
    const { seen: found } = await world.askAll({ ...about, resource: 'Article', ...id, limit: request.limit });
    const others = found.filter(({ role }) => role !== 'admin');
    const tests = await Promise.all(
      USER_NAMES.map((name) => testAccess(world.idOf(name), { ...about, resource: { name: 'Article', ...id } })),
    );
    expect(others.map(({ id, effect, rule, when }) => ({ id, effect, rule: rule.id, when }))).toEqual(tests.flatMap((test) => test ?? []));
    await checkRoles(others, { ...about, resource: 'Article', ...id });
    tried++;
    if (others.length > 0 && others.length < USER_NAMES.length) distinguishing++;
  });
  await fc.assert(property, { numRuns: CASES });
  expect(tried).toBe(CASES);
  expect(distinguishing).toBeGreaterThan(CASES / 8);
});

/** Runs the access test for one user; undefined if denied. */
async function testAccess(id: string, body: object): Promise<object | undefined> {
  const reply = await world.send('POST', '/admin/api/policies/test-access', { ...body, user: { id } });
  expect(reply.status, reply.text).toBe(200);
  if (reply.at('data.allowed') !== true) return undefined;
  const effect = reply.at('data.conditional') === true ? 'conditional' : 'allow';
  return { id, effect, rule: reply.at('data.matchedRule'), when: reply.at('data.when') };
}

/** Expects that users without own policies have exactly the access of their role. */
async function checkRoles(found: readonly Row[], request: object): Promise<void> {
  const roles = (await world.ask(request)).at('data.roles') as readonly Row[];
  const effects = new Map(roles.map(({ role, effect }) => [role, effect]));
  for (const { role, via } of found) if (via === 'role') expect(['allow', 'conditional']).toContain(effects.get(role));
  for (const [name, role] of [
    ['noor', 'editor'],
    ['quin', 'user'],
  ] as const)
    if (effects.get(role) === 'allow') expect(found).toContainEqual(expect.objectContaining({ id: world.idOf(name), effect: 'allow' }));
}
