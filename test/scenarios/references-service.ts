/** Articles of authors in departments and teams, for references-one-hop.test.ts. */
import { startService } from '../harness.ts';
import type { Scenario, ScenarioContext } from './scenario.ts';

const NO_RULE = 'no rule matched';
const TEAM = `
name: Team
fields:
  label:  { type: string }
  code:   { type: string, writeOnly: true }
  leadId: { type: reference, to: User, onDelete: setNull }
`;
const USER = `
name: User
fields:
  department: { type: string }
  teamId:     { type: reference, to: Team, onDelete: setNull }
`;
const ARTICLE = `
name: Article
fields:
  title:    { type: string, required: true }
  authorId: { type: reference, to: User, onDelete: setNull }
  parentId: { type: reference, to: Article, onDelete: setNull }
`;

/** Articles. Scenarios name their ids by title. */
const ARTICLES: readonly (readonly [title: string, author?: string, parent?: string])[] = [
  ['one', 'sam'],
  ['two', 'pia'],
  ['three'],
  ['four', 'sam', 'two'],
  ['five', 'noa'],
];

/** Starts a service. Asa is the caller, with the policy `authors`, which has no rules. Sam writes about sports, Pia about politics, Noa has no department. */
export async function startAuthors(): Promise<ScenarioContext> {
  const service = await startService({ definitions: { 'Team.yaml': TEAM, 'User.yaml': USER, 'Article.yaml': ARTICLE } });
  const admin = await service.admin();
  const kept = new Map<string, string>();
  kept.set('team', await service.createRecord('Team', { label: 'one', code: 'hush' }));
  const asa = await service.user({ department: 'sports', teamId: kept.get('team') });
  kept.set('asa', asa.id);
  kept.set('sam', (await service.user({ department: 'sports' })).id);
  kept.set('pia', (await service.user({ department: 'politics', teamId: kept.get('team') })).id);
  kept.set('noa', (await service.user()).id);
  for (const [title, author, parent] of ARTICLES) {
    const references = { ...(author !== undefined && { authorId: kept.get(author) }), ...(parent && { parentId: kept.get(parent) }) };
    kept.set(title, await service.createRecord('Article', { title, ...references }));
  }
  kept.set('policy', await service.createPolicy({ name: 'authors', userId: asa.id, rules: [] }));
  return { service, tokens: new Map(Object.entries({ admin: admin.token, asa: asa.token })), kept };
}

/** Expects that Asa reads the article. */
export const reads = (title: string): Scenario => ({
  name: `reads the article ${title}`,
  as: 'asa',
  send: `GET /api/Article/{${title}}`,
  status: 200,
  entries: [{ action: 'read', recordId: `{${title}}`, allowed: true }],
});
/** Expects a denial by the rule `never`, or because no rule matched. */
export const mayNot = (send: string, { reason = NO_RULE, ...more }: Partial<Scenario> & { readonly reason?: string } = {}): Scenario => ({
  name: `denies ${send}`,
  as: 'asa',
  send,
  status: 403,
  body_has: { code: 'ACCESS_DENIED' },
  entries: [{ allowed: false, reason }],
  ...more,
});
/** Expects that Asa is denied the article. */
export const mayNotRead = (title: string, name: string, reason?: string): Scenario =>
  mayNot(`GET /api/Article/{${title}}`, {
    name: `denies a read of the article ${title}: ${name}`,
    ...(reason !== undefined && { reason }),
  });
/** Expects that Asa's list has exactly these articles. */
export const lists = (...titles: readonly string[]): Scenario => ({
  name: `lists the articles ${titles.join(', ')}`,
  as: 'asa',
  send: 'GET /api/Article?sort=createdAt',
  status: 200,
  body_has: { count: titles.length, data: titles.map((title) => ({ title })) },
  entries: [{ action: 'list', allowed: true }],
});

/** Returns the trace of a rule that compares the author's department. Without `actual`, the author has none. */
export const traced = (answer: string, actual?: string): object => ({
  fired: answer === 'true',
  answer,
  condition: {
    field: 'resource.authorId.department',
    operator: 'eq',
    expected: 'sports',
    written: '${user.department}',
    answer,
    ...(actual === undefined ? { missing: true } : { actual }),
  },
});
/** Tests as admin whether Asa may read the article. */
export const asks = (title: string, allowed: boolean, trace: object): Scenario => ({
  name: '',
  as: 'admin',
  send: 'POST /admin/api/policies/test-access',
  body: { user: { id: '{asa}' }, resource: { name: 'Article', id: `{${title}}` }, action: 'read' },
  status: 200,
  body_has: { data: { allowed, trace: [trace] } },
});
