/** Why it was decided so: the same members from a test of access, a test of one policy, and a past decision. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, startAccessQueryService } from './access-query-service.ts';

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
/** Each test begins with the policy of the first admin alone. */
beforeEach(() => world.forget());
afterAll(() => world.service.close());

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const read = { resource: 'Article', action: 'read' };
const list = { resource: 'Article', action: 'list' };

const test = async (name: string, about: { readonly action: string; readonly article?: string }): Promise<Reply> => {
  const id = about.article === undefined ? {} : { id: world.idOf(about.article) };
  const body = { user: { id: world.idOf(name) }, resource: { name: 'Article', ...id }, action: about.action };
  return world.send('POST', '/admin/api/policies/test-access', body);
};

describe('the answer to a test', () => {
  it('has trace and ties where allowed, and nothing of denials', async () => {
    await world.policy({ name: 'P', role: 'user', rules: [read, { ...read, description: 'again' }] });
    const reply = await test('pia', { action: 'read', article: 'own' });
    expect(Object.keys(reply.at('data') as object)).toEqual(['allowed', 'reason', 'matchedPolicy', 'matchedRule', 'trace', 'ties']);
    const rank = { rule: { effect: 'ALLOW', priority: 100 }, policy: { name: 'P', priority: 100 }, assignment: { priority: 100 } };
    expect(reply.at('data.trace')).toMatchObject([{ ...rank, fired: true }]);
    expect(reply.at('data.ties')).toMatchObject([{ ...rank, answer: 'true', brokenBy: 'rule id' }]);
  });

  it('says that a DENY went before an ALLOW of the same rank, and whom it overrules', async () => {
    const deny = await world.policy({ name: 'No', role: 'user', rules: [{ ...read, effect: 'DENY', description: 'never' }] });
    await world.policy({ name: 'Yes', role: 'user', rules: [{ ...read, description: 'always' }] });
    const reply = await test('pia', { action: 'read', article: 'own' });
    expect(reply.at('data')).toMatchObject({
      allowed: false,
      matchedPolicy: { id: deny },
      ties: [{ rule: { description: 'always', effect: 'ALLOW' }, policy: { name: 'Yes' }, answer: 'true', brokenBy: 'DENY before ALLOW' }],
      wouldAllow: [{ rule: { description: 'always' }, unmet: [], overruledBy: { rule: { description: 'never' }, policy: { name: 'No' } } }],
    });
  });

  it('names what is missing on either side, down to the path', async () => {
    const conditions = [eq('user.department', `\${resource.authorId.department}`), { not: eq('user.level', 3) }];
    await world.policy({ role: 'user', rules: [{ ...read, conditions }] });
    const reply = await test('pia', { action: 'read', article: 'bare' });
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

  it('says when, for a list that is allowed in part, and names the rule that may allow', async () => {
    const conditions = [eq('resource.status', 'draft')];
    await world.policy({
      role: 'user',
      rules: [
        { ...list, effect: 'DENY', priority: 200, conditions },
        { ...list, description: 'the rest' },
      ],
    });
    const reply = await test('pia', { action: 'list' });
    const allowing = (reply.at('data.trace') as readonly { rule: { id: string } }[]).at(-1)?.rule.id;
    expect(reply.at('data')).toMatchObject({
      allowed: true,
      conditional: true,
      matchedRule: allowing,
      when: 'not resource.status eq "draft"',
    });
    expect(reply.at('data.wouldAllow')).toBeUndefined();
  });

  it('says that nothing allows, where nothing does', async () => {
    const policy = await world.policy({ role: 'user', rules: [{ ...read, effect: 'DENY', conditions: [eq('user.level', 9)] }] });
    const note = 'no active ALLOW rule applies to this resource and action';
    expect((await test('quin', { action: 'read', article: 'own' })).at('data')).toMatchObject({
      reason: 'no rule matched',
      wouldAllow: [],
      note,
    });
    const alone = await world.send('POST', `/admin/api/policies/${policy}/test`, { resource: { name: 'Article' }, action: 'update' });
    expect(alone.at('data')).toMatchObject({ allowed: false, trace: [], ties: [], wouldAllow: [], note });
  });
});

/** A request as somebody, and the test of access that asks the same. */
const PAST: readonly (readonly [what: string, rules: readonly object[], action: 'read' | 'list', article: string | undefined])[] = [
  ['a grant', [{ ...read, conditions: [eq('resource.authorId.department', 'sports')] }, read], 'read', 'own'],
  ['a denial', [{ ...read, conditions: [{ anyOf: [eq('user.id', `\${resource.authorId}`), eq('user.level', 9)] }] }], 'read', 'own'],
  ['a denial for want of values', [{ ...read, conditions: [eq('user.teamId.name', `\${resource.title}`)] }], 'read', 'bare'],
  ['a denial that overrules', [read, { ...read, effect: 'DENY', conditions: [eq('resource.title', 'b')] }], 'read', 'bare'],
  ['a denial where nothing allows', [{ ...read, effect: 'DENY' }], 'read', 'other'],
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
  it.each(PAST)('shows what a test showed then: %s', async (_, rules, action, article) => {
    await world.policy({ role: 'user', rules });
    const person = world.person('pia');
    const path = article === undefined ? '/api/Article' : `/api/Article/${world.idOf(article)}`;
    const tested = (await test('pia', { action, ...(article !== undefined && { article }) })).at('data') as object;
    const reply = await world.service.call('GET', path, { token: person.token });
    await world.forget();
    const past = (await world.send('GET', `/admin/api/decisions/${reply.headers['x-decision-id']}`)).at('data') as object;
    const why = (of: object): object => Object.fromEntries(Object.entries(of).filter(([name]) => MEMBERS.has(name)));
    expect(why(past)).toEqual(why(tested));
    expect(Object.keys(why(past)).length).toBeGreaterThan(1);
  });
});

const MEMBERS: ReadonlySet<string> = new Set(['trace', 'ties', 'when', 'wouldAllow', 'note']);
