/** Random policies through HTTP: expanded records are exactly those that single reads return, and the list is unchanged. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { databaseCasesOf } from '../budget.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { onPostgres } from '../postgres/test-database.ts';

const CASES = databaseCasesOf(20);
const DEPARTMENTS = ['sports', 'politics', undefined];
const definitions = {
  'Team.yaml': 'name: Team\nfields:\n  label: { type: string }\n',
  'User.yaml': 'name: User\nfields:\n  department: { type: string }\n  teamId: { type: reference, to: Team, onDelete: setNull }\n',
  'Article.yaml': `name: Article
fields:
  title:       { type: string }
  authorId:    { type: reference, to: User, onDelete: setNull }
  reviewerIds: { type: list, of: { type: reference, to: User } }
`,
  'Comment.yaml': `name: Comment
fields:
  articleId: { type: reference, to: Article, onDelete: cascade, index: true }
  authorId:  { type: reference, to: User, onDelete: setNull }
  text:      { type: string }
`,
};

interface Article {
  readonly id: string;
  readonly authorId: string | null;
  readonly reviewerIds: readonly string[] | null;
}

let service: RunningService;
let caller: TestUser;
let policy: string;
/** Comments of each article, in order. */
const comments = new Map<string, readonly string[]>();
const userIds: string[] = [];

beforeAll(async () => {
  service = await startService({ definitions, settings: { rateLimit: 0 } });
  caller = await service.user({ department: 'sports' });
  policy = await service.createPolicy({ userId: caller.id, rules: [] });
  const teams = [await service.createRecord('Team', { label: 'north' }), await service.createRecord('Team', { label: 'south' }), undefined];
  for (let n = 0; n < 6; n++) {
    const values = { department: DEPARTMENTS[n % 3], teamId: teams[Math.floor(n / 2)] };
    userIds.push(await service.createRecord('User', { name: `u${n}`, email: `u${n}@example.org`, ...values }));
  }
  for (let n = 0; n < 7; n++) {
    const reviewerIds = userIds.filter((_, index) => (index + n) % 3 === 0);
    const id = await service.createRecord('Article', { title: `t${n % 3}`, reviewerIds, ...(n < 6 && { authorId: userIds[n] }) });
    const own: string[] = [];
    for (let m = 0; m < n; m++) {
      const values = { text: ['plain', 'spam', 'late'][m % 3], ...(m % 4 < 3 && { authorId: userIds[(n + m) % 6] }) };
      own.push(await service.createRecord('Comment', { articleId: id, ...values }));
    }
    comments.set(id, own);
  }
});
afterAll(() => service.close());

const is = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
const ofUser = fc.constantFrom<object>(
  is('resource.department', 'eq', '${user.department}'),
  is('resource.department', 'ne', 'sports'),
  is('resource.department', 'matches', '^p'),
  is('resource.department', 'exists', false),
  is('resource.teamId.label', 'eq', 'north'),
  is('resource.name', 'in', ['u0', 'u3', 'u4']),
  is('user.department', 'eq', 'sports'),
  { expression: 'size(resource.department) == 6' },
);
const ofComment = fc.constantFrom<object>(
  is('resource.text', 'ne', 'spam'),
  is('resource.text', 'matches', 'a'),
  is('resource.authorId.department', 'eq', '${user.department}'),
  is('resource.authorId', 'exists', true),
  is('user.department', 'eq', 'politics'),
  { expression: 'resource.text.size() == 4 && resource.authorId.department != "sports"' },
);
const ruleOn = (resource: string, condition: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.record({
    resource: fc.constant(resource),
    action: fc.constantFrom('read', 'read', '*'),
    effect: fc.constantFrom('ALLOW', 'ALLOW', 'DENY'),
    priority: fc.constantFrom(100, 200),
    conditions: fc.array(condition, { maxLength: 2 }),
  });
const rules = fc
  .tuple(fc.array(ruleOn('User', ofUser), { maxLength: 3 }), fc.array(ruleOn('Comment', ofComment), { maxLength: 3 }))
  .map(([users, others]) => [...users, ...others]);

const tallies = { references: { included: 0, excluded: 0 }, referencing: { included: 0, excluded: 0 } };

it('expand includes exactly the records that single reads return, and does not change the list', async () => {
  const check = async (some: readonly object[], limit: number): Promise<void> => {
    await expectOk('PUT', `/admin/api/policies/${policy}`, (await service.admin()).token, {
      rules: [{ resource: 'Article', action: 'list', conditions: [is('resource.title', 'ne', 't2')] }, ...some],
    });
    const readable = await readEach();
    for (const query of ['?sort=-title&limit=3&total=true', '?sort=createdAt&limit=100']) {
      const plain = await expectOk('GET', `/api/Article${query}`, caller.token);
      const path = `/api/Article${query}&expand=authorId,reviewerIds,comments:Comment.articleId(${limit})`;
      const expanded = await expectOk('GET', path, caller.token);
      expect(withoutExpand(expanded)).toEqual(withoutExpand(plain));
      const records = expanded.at('data') as readonly (Article & { expand: object })[];
      for (const record of records) expect(idsIn(record.expand)).toEqual(expectedOf(record, { readable, limit }));
      await expectEntries(expanded, { records, readable });
    }
  };
  await fc.assert(fc.asyncProperty(rules, fc.integer({ min: 1, max: 4 }), check), { numRuns: CASES });
  if (onPostgres) return;
  for (const { included, excluded } of Object.values(tallies)) {
    expect(included).toBeGreaterThan(CASES);
    expect(excluded).toBeGreaterThan(CASES);
  }
});

/** Returns the users and comments that single reads return. */
async function readEach(): Promise<ReadonlySet<string>> {
  const reads = [
    ...userIds.map((id) => ({ resource: 'User', action: 'read', id })),
    ...[...comments.values()].flat().map((id) => ({ resource: 'Comment', action: 'read', id })),
  ];
  const reply = await expectOk('POST', '/api/batch', caller.token, { requests: reads });
  const statuses = (reply.at('data') as readonly { readonly status: number }[]).map(({ status }) => status);
  for (const status of statuses) expect([200, 403]).toContain(status);
  return new Set(reads.filter((_, index) => statuses[index] === 200).map(({ id }) => id));
}

interface Expecting {
  readonly readable: ReadonlySet<string>;
  readonly limit: number;
}

function expectedOf({ id, authorId, reviewerIds }: Article, { readable, limit }: Expecting): object {
  const among = (kind: keyof typeof tallies, ids: readonly string[]): readonly string[] => {
    const included = ids.filter((one) => readable.has(one));
    tallies[kind].included += included.length;
    tallies[kind].excluded += ids.length - included.length;
    return included;
  };
  return {
    authorId: among('references', authorId === null ? [] : [authorId])[0] ?? null,
    reviewerIds: among('references', reviewerIds ?? []),
    comments: among('referencing', comments.get(id) ?? []).slice(0, limit),
  };
}

/** Expects one entry for each expanded and each denied record, as for single reads. */
async function expectEntries(
  { headers }: Reply,
  { records, readable }: { readonly records: readonly (Article & { expand: object })[]; readonly readable: ReadonlySet<string> },
): Promise<void> {
  const entries = await service.decisions(`userId=${caller.id}&action=read&limit=200`);
  const own = entries.filter(({ requestId, recordId }) => requestId === headers['x-request-id'] && recordId !== undefined);
  const included = records.flatMap(({ expand }) => Object.values(idsIn(expand)).flat()).filter((id) => id !== null);
  const referenced = records.flatMap(({ authorId, reviewerIds }) => [authorId, ...(reviewerIds ?? [])]).filter((id) => id !== null);
  const met = [...new Set([...included, ...referenced])];
  expect(own.map(({ recordId, allowed }) => `${recordId} ${allowed}`).toSorted()).toEqual(
    met.map((id) => `${id} ${readable.has(id)}`).toSorted(),
  );
}

function idsIn(expand: object): object {
  const idOf = (record: unknown): unknown => (record as { id: string } | null)?.id ?? null;
  return Object.fromEntries(Object.entries(expand).map(([name, of]) => [name, Array.isArray(of) ? of.map(idOf) : idOf(of)]));
}

function withoutExpand({ body }: Reply): unknown {
  const { data, ...others } = body as { data: readonly Record<string, unknown>[] };
  return { ...others, data: data.map(({ expand: _, ...record }) => record), nextCursor: 'nextCursor' in others };
}

async function expectOk(method: string, path: string, token: string, body?: object): Promise<Reply> {
  const reply = await service.call(method, path, { token, body });
  expect(reply.status, reply.text).toBe(200);
  return reply;
}
