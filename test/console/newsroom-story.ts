/** Data for the screens of the console: staff, articles, policies and requests of the newsroom example. */
import { readFileSync } from 'node:fs';
import type { CallOptions, Reply, RunningService, TestUser } from '../harness.ts';

/** The people of the newsroom. */
export interface Staff {
  readonly admin: TestUser;
  /** An editor of the department politics. */
  readonly maya: TestUser;
  /** An editor of the department sports. */
  readonly tom: TestUser;
  /** A reader. */
  readonly rita: TestUser;
}

/** Ids of the records and policies. */
export interface Story extends Staff {
  /** Articles by their slug. */
  readonly articles: ReadonlyMap<string, string>;
  /** Policies by their name. */
  readonly policies: ReadonlyMap<string, string>;
  /** Lets the staff read and change records. Some of the requests are denied. */
  work(): Promise<void>;
}

const equals = (field: string, value: string): object => ({ field, operator: 'eq', value });

const POLICIES = [
  {
    name: 'Everyone: published articles',
    type: 'ATTRIBUTE_BASED',
    roles: ['anon', 'user', 'editor'],
    rules: ['list', 'read'].map((action) => ({
      resource: 'Article',
      action,
      description: `${action} published articles`,
      conditions: [equals('resource.status', 'published')],
    })),
  },
  {
    name: 'Editors: their department',
    type: 'ATTRIBUTE_BASED',
    roles: ['editor'],
    rules: [
      ...['list', 'read', 'update'].map((action) => ({
        resource: 'Article',
        action,
        description: `${action} articles of their department`,
        conditions: [equals('resource.department', '${user.department}')],
      })),
      { resource: 'Article', action: 'create', description: 'write articles' },
      { resource: 'User', action: 'list', description: 'see colleagues' },
    ],
  },
  {
    name: 'Embargo',
    type: 'CUSTOM',
    roles: ['user', 'editor'],
    priority: 200,
    rules: [
      {
        resource: 'Article',
        action: '*',
        effect: 'DENY',
        priority: 900,
        description: 'articles under embargo',
        conditions: [{ field: 'resource.tags', operator: 'has', value: 'embargo', ifExists: true }],
      },
    ],
  },
  {
    name: 'Readers: comments',
    type: 'ATTRIBUTE_BASED',
    roles: ['user', 'editor'],
    rules: [
      { resource: 'Comment', action: 'list', description: 'read comments' },
      { resource: 'Comment', action: 'create', description: 'write comments' },
      {
        resource: 'Comment',
        action: 'delete',
        description: 'delete own comments',
        conditions: [equals('resource.createdBy', '${user.id}')],
      },
    ],
  },
  {
    name: 'Tips: senior editors on weekdays',
    type: 'ATTRIBUTE_BASED',
    rules: [
      {
        resource: 'Tip',
        action: 'list',
        description: 'senior editors, on weekdays',
        conditions: [
          { field: 'user.startedOn', operator: 'before', value: '2026-01-01' },
          { field: 'environment.timestamp', operator: 'dayOfWeekIn', value: [1, 2, 3, 4, 5] },
        ],
      },
    ],
  },
];

const STAFF = {
  maya: { name: 'Maya Lindqvist', role: 'editor', department: 'politics', startedOn: '2021-03-01' },
  tom: { name: 'Tom Okafor', role: 'editor', department: 'sports', startedOn: '2026-02-01' },
  rita: { name: 'Rita Sommer' },
};

/** Fills a service of the newsroom example. */
export async function fillNewsroom(service: RunningService): Promise<Story> {
  const admin = await service.admin();
  const [maya, tom, rita] = await Promise.all([STAFF.maya, STAFF.tom, STAFF.rita].map((fields) => service.user(fields)));
  if (maya === undefined || tom === undefined || rita === undefined) throw new Error('expected three users');
  const articles = await createArticles(service, { maya, tom });
  const policies = new Map<string, string>();
  for (const policy of POLICIES) policies.set(policy.name, await service.createPolicy(policy));
  const expiresAt = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const path = `/admin/api/policies/${policies.get('Tips: senior editors on weekdays')}/assign/user/${maya.id}`;
  requireStatus(await service.call('POST', path, { token: admin.token, body: { expiresAt } }), 201);
  return { admin, maya, tom, rita, articles, policies, work: () => work(service, { admin, maya, tom, rita }, articles) };
}

async function createArticles(service: RunningService, { maya, tom }: Pick<Staff, 'maya' | 'tom'>): Promise<ReadonlyMap<string, string>> {
  const file = new URL('../../examples/newsroom/import/articles.json', import.meta.url);
  const { data } = JSON.parse(readFileSync(file, 'utf8').replaceAll('AUTHOR_ID', maya.id)) as { readonly data: readonly Article[] };
  const more: readonly Article[] = [
    { title: 'The minister resigns', slug: 'the-minister-resigns', department: 'politics', authorId: maya.id, tags: ['embargo'] },
    {
      title: 'Final in the rain',
      slug: 'final-in-the-rain',
      department: 'sports',
      authorId: tom.id,
      status: 'published',
      tags: ['football'],
    },
  ];
  const articles = new Map<string, string>();
  for (const article of [...data, ...more]) articles.set(article.slug, await service.createRecord('Article', article));
  return articles;
}

interface Article {
  readonly title: string;
  readonly slug: string;
  readonly [field: string]: unknown;
}

type Request = readonly [who: keyof Staff | 'anon', method: string, path: string, body?: object];

async function work(service: RunningService, staff: Staff, articles: ReadonlyMap<string, string>): Promise<void> {
  const article = (slug: string): string => `/api/Article/${articles.get(slug)}`;
  const comment = { articleId: articles.get('harbour-reopens'), text: 'At last!', rating: 5 };
  const requests: readonly Request[] = [
    ['anon', 'GET', '/api/Article'],
    ['anon', 'GET', article('harbour-reopens')],
    ['anon', 'GET', article('who-owns-the-stadium')],
    ['rita', 'GET', '/api/Article?limit=10'],
    ['rita', 'GET', article('the-minister-resigns')],
    ['rita', 'POST', '/api/Comment', comment],
    ['rita', 'GET', '/api/Tip'],
    ['maya', 'GET', '/api/Article'],
    ['maya', 'GET', article('the-minister-resigns')],
    ['maya', 'PUT', article('a-budget-at-last'), { tags: ['council', 'budget', 'vote'] }],
    ['maya', 'PUT', article('final-in-the-rain'), { title: 'Final in the sun' }],
    ['maya', 'GET', '/api/Tip'],
    ['tom', 'GET', '/api/Article?where[department]=sports'],
    ['tom', 'PUT', article('final-in-the-rain'), { tags: ['football', 'final'] }],
    ['tom', 'PUT', article('a-budget-at-last'), { status: 'draft' }],
    ['tom', 'DELETE', article('final-in-the-rain')],
    ['tom', 'GET', '/api/Tip'],
  ];
  for (const [who, method, path, body] of requests) {
    const options: CallOptions = { body, ...(who !== 'anon' && { token: await service.logIn(staff[who].email, staff[who].password) }) };
    requireStatus(await service.call(method, path, options), 200, 201, 403);
  }
}

function requireStatus(reply: Reply, ...expected: readonly number[]): void {
  if (!expected.includes(reply.status)) throw new Error(`expected status ${expected.join(' or ')}, given ${reply.status}: ${reply.text}`);
}
