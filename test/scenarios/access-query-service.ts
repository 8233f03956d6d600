/** A newsroom of few people, to ask ahead about: who can do something, and what somebody can do. */
import { expect } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Article.yaml': `name: Article
fields:
  title: { type: string }
  status: { type: enum, values: [draft, published] }
  authorId: { type: reference, to: User }
  embargo: { type: string, writeOnly: true }
`,
  'Team.yaml': 'name: Team\nfields:\n  name: { type: string }\n',
  'User.yaml': `name: User
fields:
  department: { type: string }
  level: { type: integer }
  teamId: { type: reference, to: Team }
  role: { type: enum, values: [anon, user, admin, editor], default: user }
`,
};

const PEOPLE: Readonly<Record<string, object>> = {
  maya: { department: 'sports', level: 1, role: 'editor' },
  noor: { department: 'politics', level: 2, role: 'editor', teamId: '<team>' },
  omar: { department: 'sports', level: 3 },
  pia: {},
  quin: { level: 1, teamId: '<team>' },
  gone: { role: 'editor' },
};

/** An id that nothing has. */
export const NOBODY = '01900000-0000-7000-8000-000000000000';
/** The address of the question who can. */
export const WHO_CAN = '/admin/api/policies/who-can';

/** A role or a user in an answer. */
export interface Row {
  readonly id?: string;
  readonly name?: string;
  readonly role: string;
  readonly effect: string;
  readonly rule: { readonly id: string; readonly description?: string };
  readonly policy: { readonly name: string };
  readonly via?: string;
  readonly when?: string;
}

/** The service with its people and articles, and the questions that an admin asks. */
export interface AheadWorld {
  readonly service: RunningService;
  readonly admin: TestUser;
  /** Id of a person or an article by its name. */
  idOf(name: string): string;
  person(name: string): TestUser;
  /** Sends as the admin. */
  send(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Creates and assigns a policy that goes with `forget`. */
  policy(policy: Parameters<RunningService['createPolicy']>[0]): Promise<string>;
  forget(): Promise<void>;
  ask(question: object): Promise<Reply>;
  /** Every page of an answer. */
  askAll(question: object): Promise<{ readonly seen: readonly Row[]; readonly sizes: readonly number[] }>;
}

/** Makes maya and noor editors, omar, pia and quin users, gone an editor who is not active; articles `own` of maya, `other` of omar, `bare`. */
export async function startAheadWorld(): Promise<AheadWorld> {
  const service = await startService({ definitions: DEFINITIONS, settings: { rateLimit: 0 } });
  const admin = await service.admin();
  const team = await service.createRecord('Team', { name: 'night' });
  const people = new Map<string, TestUser>([['admin', admin]]);
  for (const [name, fields] of Object.entries(PEOPLE))
    people.set(name, await service.user({ name, ...JSON.parse(JSON.stringify(fields).replace('<team>', team)) }));
  const ids = new Map([...people].map(([name, { id }]) => [name, id]));
  const send: AheadWorld['send'] = (method, path, body) =>
    service.call(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) });
  await send('PUT', `/api/User/${ids.get('gone')}`, { isActive: false });
  ids.set('own', await service.createRecord('Article', { title: 'a', status: 'draft', authorId: ids.get('maya') }));
  ids.set('other', await service.createRecord('Article', { title: 'b', status: 'published', authorId: ids.get('omar') }));
  ids.set('bare', await service.createRecord('Article', {}));
  return { service, admin, send, ...find({ people, ids }), ...createPolicies(service, send), ...createQuestions(send) };
}

function find({
  people,
  ids,
}: {
  people: ReadonlyMap<string, TestUser>;
  ids: ReadonlyMap<string, string>;
}): Pick<AheadWorld, 'idOf' | 'person'> {
  const known = <Value>(map: ReadonlyMap<string, Value>, name: string): Value => {
    const value = map.get(name);
    if (value === undefined) throw new Error(`nobody and nothing is called ${name}`);
    return value;
  };
  return { idOf: (name) => known(ids, name), person: (name) => known(people, name) };
}

function createPolicies(service: RunningService, send: AheadWorld['send']): Pick<AheadWorld, 'policy' | 'forget'> {
  const made: string[] = [];
  return {
    async policy(policy) {
      const id = await service.createPolicy(policy);
      made.push(id);
      return id;
    },
    async forget() {
      for (const id of made.splice(0)) await send('DELETE', `/admin/api/policies/${id}`);
    },
  };
}

function createQuestions(send: AheadWorld['send']): Pick<AheadWorld, 'ask' | 'askAll'> {
  const ask = async (question: object): Promise<Reply> => {
    const reply = await send('POST', WHO_CAN, question);
    expect(reply.status, reply.text).toBe(200);
    return reply;
  };
  return {
    ask,
    async askAll(question) {
      const seen: Row[] = [];
      const sizes: number[] = [];
      let cursor: unknown;
      do {
        const page = await ask({ ...question, ...(typeof cursor === 'string' && { cursor }) });
        const rows = page.at('data.users') as readonly Row[];
        expect(page.at('count')).toBe(rows.length);
        seen.push(...rows);
        sizes.push(rows.length);
        cursor = page.at('nextCursor');
      } while (cursor !== undefined);
      return { seen, sizes };
    },
  };
}
