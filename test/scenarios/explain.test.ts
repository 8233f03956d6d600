/** Explanations: an access test, a test of one policy and a past decision have the same members. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, startAccessQueryService } from './access-query-service.ts';

let queries: AccessQueryService;
beforeAll(async () => {
  queries = await startAccessQueryService();
});
/** Leaves only the policy of the first admin. */
beforeEach(() => queries.forget());
afterAll(() => queries.service.close());

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const read = { resource: 'Article', action: 'read' };
const list = { resource: 'Article', action: 'list' };

const testAccess = async (name: string, about: { readonly action: string; readonly article?: string }): Promise<Reply> => {
  const id = about.article === undefined ? {} : { id: queries.idOf(about.article) };
  const body = { user: { id: queries.idOf(name) }, resource: { name: 'Article', ...id }, action: about.action };
  return queries.send('POST', '/admin/api/policies/test-access', body);
};

describe('the response to an access test', () => {
  it('explains an allowed access test with trace and ties, and without members of denials', async () => {
    await queries.policy({ name: 'P', role: 'user', rules: [read, { ...read, description: 'again' }] });
    const reply = await testAccess('pia', { action: 'read', article: 'own' });
    expect(Object.keys(reply.at('data') as object)).toEqual(['allowed', 'reason', 'matchedPolicy', 'matchedRule', 'trace', 'ties']);
    const rank = { rule: { effect: 'ALLOW', priority: 100 }, policy: { name: 'P', priority: 100 }, assignment: { priority: 100 } };
    expect(reply.at('data.trace')).toMatchObject([{ ...rank, fired: true }]);
    expect(reply.at('data.ties')).toMatchObject([{ ...rank, answer: 'true', brokenBy: 'rule id' }]);
  });

  it('names the ALLOW of the same rank that a DENY overrules', async () => {
    const deny = await queries.policy({ name: 'No', role: 'user', rules: [{ ...read, effect: 'DENY', description: 'never' }] });
    await queries.policy({ name: 'Yes', role: 'user', rules: [{ ...read, description: 'always' }] });
    const reply = await testAccess('pia', { action: 'read', article: 'own' });
    expect(reply.at('data')).toMatchObject({
      allowed: false,
      matchedPolicy: { id: deny },
      ties: [{ rule: { description: 'always', effect: 'ALLOW' }, policy: { name: 'Yes' }, answer: 'true', brokenBy: 'DENY before ALLOW' }],
      wouldAllow: [{ rule: { description: 'always' }, unmet: [], overruledBy: { rule: { description: 'never' }, policy: { name: 'No' } } }],
    });
  });

  it('names the path of each missing value on both sides of a condition', async () => {
    const conditions = [eq('user.department', `\${resource.authorId.department}`), { not: eq('user.level', 3) }];
    await queries.policy({ role: 'user', rules: [{ ...read, conditions }] });
    const reply = await testAccess('pia', { action: 'read', article: 'bare' });
    const missing = ['user.department', 'resource.authorId.department', 'user.level'];
    expect(reply.at('data.trace')).toMatchObject([{ answer: 'unknown', missing }]);
    expect(reply.at('data.wouldAllow')).toMatchObject([
      {
        missing,
        unmet: [
          { field: 'user.department', missing: true, written: `\${resource.authorId.department}`, answer: 'unknown' },
          { type: 'not', of: { field: 'user.level', missing: true } },
        ],
      },
    ]);
  });

  it('explains a list that is allowed in part with its condition and the allowing rule', async () => {
    const conditions = [eq('resource.status', 'draft')];
    await queries.policy({
      role: 'user',
      rules: [
        { ...list, effect: 'DENY', priority: 200, conditions },
        { ...list, description: 'the rest' },
      ],
    });
    const reply = await testAccess('pia', { action: 'list' });
    const allowing = (reply.at('data.trace') as readonly { rule: { id: string } }[]).at(-1)?.rule.id;
    expect(reply.at('data')).toMatchObject({
      allowed: true,
      conditional: true,
      matchedRule: allowing,
      when: 'not resource.status eq "draft"',
    });
    expect(reply.at('data.wouldAllow')).toBeUndefined();
  });

  it('describes in a note that no active rule allows the action', async () => {
    const policy = await queries.policy({ role: 'user', rules: [{ ...read, effect: 'DENY', conditions: [eq('user.level', 9)] }] });
    const note = 'no active ALLOW rule applies to this resource and action';
    expect((await testAccess('quin', { action: 'read', article: 'own' })).at('data')).toMatchObject({
      wouldAllow: [],
      note,
    });
    const alone = await queries.send('POST', `/admin/api/policies/${policy}/test`, { resource: { name: 'Article' }, action: 'update' });
    expect(alone.at('data')).toMatchObject({ allowed: false, trace: [], ties: [], wouldAllow: [], note });
  });
});

/** Rules and a request of pia, which is also made as an access test. */
const PAST: readonly (readonly [name: string, rules: readonly object[], action: 'read' | 'list', article: string | undefined])[] = [
  ['a grant', [{ ...read, conditions: [eq('resource.authorId.department', 'sports')] }, read], 'read', 'own'],
  ['a denial', [{ ...read, conditions: [{ anyOf: [eq('user.id', `\${resource.authorId}`), eq('user.level', 9)] }] }], 'read', 'own'],
  ['a denial because of missing values', [{ ...read, conditions: [eq('user.teamId.name', `\${resource.title}`)] }], 'read', 'bare'],
  ['a denial that overrules an ALLOW', [read, { ...read, effect: 'DENY', conditions: [eq('resource.title', 'b')] }], 'read', 'bare'],
  ['a denial without an ALLOW', [{ ...read, effect: 'DENY' }], 'read', 'other'],
  [
    'a list',
    [
      { ...list, effect: 'DENY', conditions: [eq('resource.title', 'b')] },
      { ...list, conditions: [eq('user.role', 'user')] },
    ],
    'list',
    undefined,
  ],
];

describe('a past decision', () => {
  it.each(PAST)('explains a past decision like an access test at that time: %s', async (_, rules, action, article) => {
    await queries.policy({ role: 'user', rules });
    const person = queries.person('pia');
    const path = article === undefined ? '/api/Article' : `/api/Article/${queries.idOf(article)}`;
    const tested = (await testAccess('pia', { action, ...(article !== undefined && { article }) })).at('data') as object;
    const reply = await queries.service.call('GET', path, { token: person.token });
    await queries.forget();
    const past = (await queries.send('GET', `/admin/api/decisions/${reply.headers['x-decision-id']}`)).at('data') as object;
    const explanation = (of: object): object => Object.fromEntries(Object.entries(of).filter(([name]) => MEMBERS.has(name)));
    expect(explanation(past)).toEqual(explanation(tested));
    expect(Object.keys(explanation(past)).length).toBeGreaterThan(1);
  });
});

const MEMBERS: ReadonlySet<string> = new Set(['trace', 'ties', 'when', 'wouldAllow', 'note']);
