/**
 * A preview finds what access tests find: random requests are recorded under random policies, the policies change, and each entry is
 * previewed with a random draft. The records keep the values that conditions read, so an access test at the time of the entry decides
 * on the same values.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { type AccessQueryService, REACHING, startAccessQueryService } from '../scenarios/access-query-service.ts';

const CASES = casesOf(6);
/** Number of cases in which every change occurs. */
const MANY_CASES = 60;

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
afterAll(() => world.service.close());

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const condition = fc.constantFrom<object>(
  ...REACHING,
  eq('user.department', 'sports'),
  eq('resource.authorId', `\${user.id}`),
  eq('resource.status', 'draft'),
  eq('user.teamId.name', 'night'),
  eq('resource.authorId.department', 'sports'),
  { field: 'user.level', operator: 'gte', value: 2 },
  { field: 'user.teamId', operator: 'exists', value: false },
  { field: 'resource.status', operator: 'isNull', value: true },
  { field: 'environment.hour', operator: 'gte', value: 0 },
  { not: eq('resource.status', 'draft') },
  { expression: 'size(user.department) > 6' },
);
const rules = fc.array(
  fc.record({
    resource: fc.constantFrom('Article', '*'),
    action: fc.constantFrom('read', 'list', 'update', '*'),
    effect: fc.constantFrom('ALLOW', 'ALLOW', 'DENY'),
    priority: fc.constantFrom(100, 200),
    conditions: fc.array(condition, { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 3 },
);
const assignedPolicy = fc.record({
  rules,
  roles: fc.uniqueArray(fc.constantFrom('user', 'editor'), { maxLength: 2 }),
  user: fc.constantFrom(undefined, 'maya', 'pia'),
});
const request = fc.record({
  user: fc.constantFrom('maya', 'noor', 'omar', 'pia'),
  action: fc.constantFrom('read', 'list', 'update'),
  article: fc.constantFrom('own', 'other', 'bare'),
});
const situation = fc.record({
  before: fc.array(assignedPolicy, { minLength: 1, maxLength: 3 }),
  requests: fc.array(request, { minLength: 4, maxLength: 8 }),
  since: fc.array(assignedPolicy, { maxLength: 2 }),
  /** True if the policies under which the requests were decided stay. */
  keeps: fc.boolean(),
  changed: rules,
  added: assignedPolicy,
});

type AssignedPolicy = typeof assignedPolicy extends fc.Arbitrary<infer Value> ? Value : never;
type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;

function create({ user, ...policy }: AssignedPolicy): Promise<string> {
  return world.policy({ ...policy, ...(user !== undefined && { userId: world.idOf(user) }) });
}

/** Sends a request as a user. An update changes only the title, which no condition reads. */
async function send({ user, action, article }: Situation['requests'][number]): Promise<void> {
  const options = { token: world.person(user).token };
  const path = `/api/Article${action === 'list' ? '' : `/${world.idOf(article)}`}`;
  const reply = await world.service.call(action === 'update' ? 'PUT' : 'GET', path, {
    ...options,
    ...(action === 'update' && { body: { title: `of ${user}` } }),
  });
  expect([200, 403]).toContain(reply.status);
}

/** An audit entry, as the search returns it. */
interface Entry {
  readonly id: string;
  readonly at: string;
  readonly ip: string;
  readonly userId: string;
  readonly action: string;
  readonly recordId?: string;
}

/** Returns the decision of an access test on the request of an entry: whether it is allowed, and the condition of a list. */
async function decide({ at, ip, userId, action, recordId }: Entry, draft: object): Promise<{ allowed: boolean; when: string }> {
  const reply = await world.send('POST', '/admin/api/policies/test-access', {
    ...{ user: { id: userId }, action, draft, environment: { timestamp: at, ip } },
    resource: { name: 'Article', ...(recordId !== undefined && { id: recordId }) },
    ...(action === 'update' && { data: { title: 'of an admin' } }),
  });
  expect(reply.status, reply.text).toBe(200);
  return { allowed: reply.at('data.allowed') === true, when: String(reply.at('data.when')) };
}

/** Returns the changes that the entries may be. Conditions of lists are compared as texts, so different texts may be the same condition. */
async function expectedChanges(entry: Entry, draft: object): Promise<readonly string[]> {
  const [before, after] = [await decide(entry, {}), await decide(entry, draft)];
  if (before.allowed !== after.allowed) return [before.allowed ? 'allowToDeny' : 'denyToAllow'];
  return before.when === after.when ? ['same'] : ['same', 'changed'];
}

/** Returns the change of a replay of one entry. */
async function replay({ id }: Entry, draft: object): Promise<unknown> {
  const reply = await world.send('POST', `/admin/api/decisions/${id}/replay`, { draft });
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data.change');
}

const CHANGES = ['same', 'allowToDeny', 'denyToAllow', 'changed', 'unknown'];

/** Previews entry by entry, newest first. Returns the change of each. */
async function previewEach(body: object): Promise<string[]> {
  const changes: string[] = [];
  for (let cursor: unknown; ; ) {
    const reply = await world.send('POST', '/admin/api/policies/preview', { ...body, limit: 1, ...(cursor !== undefined && { cursor }) });
    expect(reply.status, reply.text).toBe(200);
    const data = reply.at('data') as Readonly<Record<string, number>>;
    expect(data['examined']).toBe(1);
    changes.push(...CHANGES.filter((change) => data[change] === 1));
    cursor = reply.at('nextCursor');
    if (cursor === undefined) return changes;
  }
}

it('a preview finds the changes that access tests find', async () => {
  const counts: Record<string, number> = {};
  const property = fc.asyncProperty(situation, async ({ before, requests, since, keeps, changed, added }) => {
    await world.forget();
    for (const policy of before) await create(policy);
    const from = String(((await world.service.decisions('limit=1'))[0] as Entry | undefined)?.at);
    for (const one of requests) await send(one);
    if (!keeps) await world.forget();
    for (const policy of since) await create(policy);
    const replaced = await create({
      rules: [{ resource: 'Article', action: 'read', effect: 'ALLOW', priority: 100, conditions: [] }],
      roles: ['editor'],
      user: undefined,
    });
    const draft = {
      policies: [
        { id: replaced, rules: changed },
        { name: 'Added', type: 'CUSTOM', rules: added.rules },
      ],
      assignments: [...added.roles.map((role) => ({ role, policyId: 'draft:1' })), { userId: world.idOf('omar'), policyId: replaced }],
    };
    const rulesOfAll = JSON.stringify([before, since, draft]);
    const reaches = REACHING.some((each) => rulesOfAll.includes(JSON.stringify(each)));
    const filter = { resource: 'Article', from };
    const entries = (await world.service.decisions(`kind=access&resource=Article&from=${from}&limit=100`)) as unknown as Entry[];
    const mine = entries.filter(({ userId }) => userId !== world.admin.id);
    expect(mine).toHaveLength(entries.length);
    const changes = await previewEach({ draft, filter });
    const filled = await previewEach({ draft, filter, fill: true });
    expect(changes).toHaveLength(entries.length);
    for (const [index, entry] of entries.entries()) {
      const expected = await expectedChanges(entry, draft);
      const [change, withToday] = [changes[index] ?? '', filled[index] ?? ''];
      counts[change] = (counts[change] ?? 0) + 1;
      expect([...expected, 'unknown'], JSON.stringify(entry)).toContain(change);
      expect(await replay(entry, draft), JSON.stringify(entry)).toBe(change);
      // Today's values are those of the entry. Other records that a condition reaches are not filled.
      expect(reaches ? [...expected, 'unknown'] : expected, JSON.stringify(entry)).toContain(withToday);
    }
  });
  await fc.assert(property, { numRuns: CASES });
  // Few random cases may lack a rare change.
  const required = CASES < MANY_CASES ? ['same'] : ['same', 'allowToDeny', 'denyToAllow', 'unknown'];
  for (const change of required) expect(counts[change] ?? 0, change).toBeGreaterThan(0);
});
