import { startService } from '../harness.ts';
import type { Scenario, ScenarioContext } from './scenario.ts';

const TEAM = 'name: Team\nfields:\n  label: { type: string }\n  code: { type: string, writeOnly: true }\n';
const USER = 'name: User\nfields:\n  department: { type: string }\n  teamId: { type: reference, to: Team, onDelete: setNull }\n';
const ARTICLE = `
name: Article
fields:
  title:       { type: string, required: true }
  authorId:    { type: reference, to: User, onDelete: setNull }
  editorId:    { type: reference, to: User, onDelete: setNull }
  parentId:    { type: reference, to: Article, onDelete: setNull }
  reviewerIds: { type: list, of: { type: reference, to: User } }
  sourceId:    { type: reference, to: User, onDelete: setNull, writeOnly: true }
`;
const COMMENT = `
name: Comment
fields:
  articleId: { type: reference, to: Article, onDelete: cascade, index: true }
  aboutId:   { type: reference, to: Article, onDelete: cascade, writeOnly: true }
  authorId:  { type: reference, to: User, onDelete: setNull }
  text:      { type: string }
  note:      { type: string, writeOnly: true }
`;

/**
 * Starts a service with articles of Sam, who is in the sports department and a team, and of Pia, who is in politics.
 * Comments c1 to c5 are on `one`, c6 on `two`. Asa sends the requests, and has one policy, `readers`, without rules.
 */
export async function startReaders(): Promise<ScenarioContext> {
  const service = await startService({
    definitions: { 'Team.yaml': TEAM, 'User.yaml': USER, 'Article.yaml': ARTICLE, 'Comment.yaml': COMMENT },
  });
  const admin = await service.admin();
  const kept = new Map<string, string>();
  const create = async (name: string, resource: string, data: Readonly<Record<string, unknown>>): Promise<void> => {
    kept.set(name, await service.createRecord(resource, data));
  };
  await create('team', 'Team', { label: 'north', code: 'hush' });
  const asa = await service.user({ department: 'sports', teamId: kept.get('team') });
  kept.set('asa', asa.id);
  const [sam, pia] = [
    await service.user({ department: 'sports', teamId: kept.get('team') }),
    await service.user({ department: 'politics' }),
  ];
  kept.set('sam', sam.id).set('pia', pia.id);
  await create('one', 'Article', { title: 'one', authorId: sam.id, editorId: sam.id, reviewerIds: [pia.id, sam.id], sourceId: pia.id });
  await create('two', 'Article', { title: 'two', authorId: pia.id, editorId: sam.id, parentId: kept.get('one') });
  await create('three', 'Article', { title: 'three' });
  for (const [index, text] of ['plain', 'spam', 'plain', 'spam', 'late'].entries())
    await create(`c${index + 1}`, 'Comment', { articleId: kept.get('one'), authorId: sam.id, text, note: 'hush' });
  await create('c6', 'Comment', { articleId: kept.get('two'), aboutId: kept.get('one'), authorId: pia.id, text: 'plain' });
  kept.set('policy', await service.createPolicy({ name: 'readers', userId: asa.id, rules: [] }));
  return { service, tokens: new Map(Object.entries({ admin: admin.token, asa: asa.token })), kept };
}

/** Returns a condition of a rule. */
export const is = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
/** Returns a rule that allows an action if the conditions hold. */
export const may = (action: string, resource: string, ...conditions: readonly object[]): object => ({ resource, action, conditions });
/** Returns the audit entry of an allowed read. */
export const read = (resource: string, name: string): object => ({ action: 'read', resource, recordId: `{${name}}`, allowed: true });
/** Returns the audit entry of a denied read. */
export const denied = (resource: string, name: string): object => ({ ...read(resource, name), allowed: false });

/** Returns the scenario that gives Asa's policy its rules. */
export const given = (rules: readonly object[]): Scenario => ({
  name: 'gives the caller these rules',
  as: 'admin',
  send: 'PUT /admin/api/policies/{policy}',
  body: { rules },
  status: 200,
  entries: [{ kind: 'admin' }],
});
/** Returns a scenario in which Asa receives these data. */
export const shows = (name: string, send: string, data: unknown, entries: readonly object[], more: Partial<Scenario> = {}): Scenario => ({
  name,
  as: 'asa',
  send,
  status: 200,
  body_has: { data: data as object },
  entries,
  ...more,
});
