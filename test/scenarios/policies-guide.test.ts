/** The guides to policies: their policies, conditions, tables, commands and responses work as shown. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { FINDINGS } from '../../src/authz/linter/index.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { examples, guide, run } from './examples.ts';
import { toPattern } from './walkthrough.ts';

// The tests of this file build on each other.
const it = createChain();

const text = guide('policies');
const [firstPolicy = '', assignToRole = ''] = examples('policies', 'sh');
const blocks = examples('policies', 'json');
/** Returns true for the policies of the newsroom, which are written on one line each. */
const isNewsroom = (block: string): boolean => block.startsWith('{ "name"');
const ruleBlocks = blocks.filter((block) => block.startsWith('{ "resource"'));
/** Blocks with one condition, or with one per line. The newsroom has no hierarchy and no list of references: `hierarchies.test.ts` and `lists-of-references.test.ts` test their examples. */
const conditionBlocks = blocks.filter(
  (block) => /^\{ "(?:field|anyOf|expression)"/.test(block) && !/"within"|resource\.teamIds/.test(block),
);

let service: RunningService;
let admin: TestUser;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom', settings: { rateLimit: 0 } });
  admin = await service.admin();
  // Conditions on the department of users have a warning until a user has one.
  await service.createRecord('User', { name: 'Maya', email: 'maya@example.com', department: 'politics', role: 'editor' });
});
afterAll(() => service.close());

/** Sends a request as admin. */
function send(method: string, path: string, raw?: string): Promise<Reply> {
  return service.call(method, path, { token: admin.token, ...(raw !== undefined && { raw }) });
}

describe('the guide to policies', () => {
  const policy = blocks.find((block) => block.startsWith('{\n  "name"')) ?? '';

  it('the guide to policies has a first policy that allows editors only articles', async () => {
    const denied = JSON.parse(blocks[0] ?? '') as object;
    const editor = await service.user({ role: 'editor' });
    const variables = { URL: service.url, ADMIN: admin.token };
    const created = (await run(firstPolicy, variables)) as { data?: { id?: string } };
    await run(assignToRole, { ...variables, POLICY: String(created.data?.id) });
    expect((await service.call('GET', '/api/Article', { token: editor.token })).body).toMatchObject({ success: true });
    const other = await service.call('GET', '/api/Comment', { token: editor.token });
    expect(other.body).toMatchObject(denied);
    await send('DELETE', `/admin/api/policies/${created.data?.id}`);
    await send('DELETE', `/api/User/${editor.id}`);
  });

  it('the guide to policies has a policy that is accepted without a warning', async () => {
    const reply = await send('POST', '/admin/api/policies', policy);
    expect([reply.status, reply.at('warnings')]).toEqual([201, undefined]);
  });

  it('the guide to policies has a policy that is refused with the error shown', async () => {
    const shown = JSON.parse(blocks.find((block) => block.startsWith('{ "path"')) ?? '') as object;
    const conditions = [{ field: 'resource.status', operator: 'eq', value: 'Draft' }];
    const rules = [{ resource: 'Article', action: 'read', conditions }];
    const reply = await send('POST', '/admin/api/policies', JSON.stringify({ name: 'refused', type: 'ATTRIBUTE_BASED', rules }));
    expect(reply.body).toMatchObject({ status: 422, errors: [shown] });
  });

  it.each(ruleBlocks)('the guide to policies has a rule that is accepted: %s', async (rule) => {
    const body = { name: rule.slice(0, 100).replaceAll('\n', ' '), type: 'ATTRIBUTE_BASED', rules: [JSON.parse(rule)] };
    const reply = await send('POST', '/admin/api/policies', JSON.stringify(body));
    // The DENY on a department also fires for users without one, as the section on missing values explains.
    const codes = ((reply.at('warnings') ?? []) as { code: string }[]).map(({ code }) => code);
    expect([reply.status, codes]).toEqual([201, rule.includes('user.department') ? ['fires-on-missing'] : []]);
  });

  it.each(conditionBlocks.flatMap(toConditions))('the guide to policies has a condition that is accepted: %s', async (condition) => {
    const rules = [{ resource: 'Article', action: 'read', conditions: [JSON.parse(condition)] }];
    const reply = await send(
      'POST',
      '/admin/api/policies',
      JSON.stringify({ name: condition.slice(0, 100).replaceAll('\n', ' '), type: 'CUSTOM', rules }),
    );
    expect([reply.status, reply.at('warnings')]).toEqual([201, undefined]);
  });

  it('the guide to managing policies shows a finding as in the response', async () => {
    const [written = '', shown = ''] = examples('managing-policies', 'json').filter((block) => block.includes('No sports'));
    const reply = await send('POST', '/admin/api/policies', written);
    expect(reply.body).toMatchObject(JSON.parse(shown) as object);
  });

  it('the guide to managing policies has an import that is accepted as a dry run', async () => {
    const body = examples('managing-policies', 'json').find((block) => block.startsWith('{ "dryRun"')) ?? '';
    const reply = await send('POST', '/admin/api/policies/import', body.replace('"dryRun": false', '"dryRun": true'));
    expect(reply.body).toMatchObject({ success: true });
  });

  it('the guide to managing policies names every finding', () => {
    const named = [...guide('managing-policies').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
    expect(named.filter((code) => FINDINGS.has(code as never)).sort()).toEqual([...FINDINGS.keys()].sort());
  });

  describe('the table of missing values', () => {
    /** The first column → the request of an access test. */
    const given: Readonly<Record<string, object>> = {
      'a user without `department`': {},
      'a record without `fee`': {},
      'no author, or an author without `department`': {},
      'a record without `department`': { user: { role: 'user', department: 'sports' } },
      '`request.data.level` is `"10"`': { data: { level: '10' } },
      '`request.data.note` is JSON null': { data: { note: null } },
      '`request.data.ip` is `"home"`, not an address': { data: { ip: 'home' } },
      'any record': { resource: { name: 'Article', status: 'draft' } },
    };
    const table = text.slice(text.indexOf('| given | condition |'), text.indexOf('### ifExists'));
    let where = '';
    const rows = [...table.matchAll(/^\| (.*?) ?\| (`.*?) \| (.*?) \| (.*?) \| (.*?) \|$/gm)].map(([, first = '', ...cells]) => {
      where = first === '' ? where : first;
      return [where, ...cells.map((cell) => cell.replaceAll('**', ''))] as const;
    });

    it('this test reads the table of missing values completely', () => {
      expect(new Set(rows.map(([first]) => first))).toEqual(new Set(Object.keys(given)));
      expect(rows).toHaveLength(table.trim().split('\n').length - 2);
    });

    it.each(rows)('the table of missing values is right in the row %s: %s', async (first, condition = '', is = '', allow, deny) => {
      const asked = { user: { role: 'user' }, resource: { name: 'Article', id: 'a' }, action: 'delete', ...given[first] };
      const answers = await Promise.all(
        ['ALLOW', 'DENY'].map(async (effect) => {
          const rules = [{ resource: 'Article', action: 'delete', effect, conditions: [toCondition(condition)] }];
          const body = { name: `${first} ${condition} ${effect}`, type: 'ATTRIBUTE_BASED', rules };
          const id = String((await send('POST', '/admin/api/policies', JSON.stringify(body))).at('data.id'));
          return (await send('POST', `/admin/api/policies/${id}/test`, JSON.stringify(asked))).at('data.trace.0') as object;
        }),
      );
      const [answer] = /^\w+/.exec(is) ?? [];
      expect(answers).toMatchObject([
        { answer, fired: allow === 'fires' },
        { answer, fired: deny === 'fires' },
      ]);
    });
  });
});

/** Parses a condition of the table: `path operator value`, optionally in `not (…)` or with `ifExists`. */
function toCondition(written: string): object {
  const [, condition = ''] = /^`(.*?)`/.exec(written) ?? [];
  const [, inner = condition] = /^not \((.*)\)$/.exec(condition) ?? [];
  const [, field, operator, value = ''] = /^(\S+) (\S+) (.*)$/.exec(inner) ?? [];
  const comparison = { field, operator, value: JSON.parse(value), ...(written.includes('`ifExists: true`') && { ifExists: true }) };
  return inner === condition ? comparison : { not: comparison };
}

/** Returns the conditions of a block, which has one, or one per line. */
function toConditions(block: string): readonly string[] {
  const lines = block.trim().split('\n');
  return lines.every((line) => line.startsWith('{') && line.endsWith('}')) ? lines : [block];
}

describe('the newsroom of the guide to policies', () => {
  const policies = blocks.filter(isNewsroom);
  const answers = examples('managing-policies', 'json').filter((block) => block.startsWith('{ "success"'));
  /** The roles of each policy in the guide. */
  const roles: readonly (readonly string[])[] = [['editor'], ['editor', 'user'], ['editor', 'user'], [], [], ['editor', 'user']];
  const known: Record<string, string> = {};
  const type = (part: string): Promise<Record<string, unknown>> => {
    const commands = [...examples('policies', 'sh'), ...examples('managing-policies', 'sh')];
    const command = commands.find((one) => one.includes(part)) ?? '';
    return run(command, { URL: service.url, ADMIN: admin.token, ...known });
  };
  /** Tests access on a Monday morning, or at the given time. */
  const may = async (user: object, action: string, resource: object, timestamp = '2026-03-02T10:00:00Z'): Promise<unknown> => {
    const asked = { user, action, resource: { name: 'Article', ...resource }, environment: { timestamp } };
    return (await send('POST', '/admin/api/policies/test-access', JSON.stringify(asked))).at('data.allowed');
  };

  const createPolicies = async (): Promise<void> => {
    known['CLEO'] = await service.createRecord('User', { name: 'Cleo', email: 'cleo@example.com' });
    for (const [index, policy] of policies.entries()) {
      const reply = await send('POST', '/admin/api/policies', policy);
      expect([reply.status, reply.at('warnings')], policy).toEqual([201, undefined]);
      const id = String(reply.at('data.id'));
      if (reply.at('data.name') === 'Comment desk') known['DESK'] = id;
      if (reply.at('data.name') === 'Incident: lock') known['LOCK'] = id;
      for (const role of roles[index] ?? [])
        expect((await send('POST', `/admin/api/policies/${id}/assign/role/${role}`, '{}')).status).toBe(201);
    }
    expect(await type('$DESK/assign')).toMatchObject({ success: true, data: { userId: known['CLEO'] } });
  };

  it('the newsroom of the guide to policies decides as described', async () => {
    await createPolicies();
    const [editor, author] = [
      { role: 'editor', department: 'sports' },
      { id: 'a', role: 'user' },
    ];
    const [published, draft] = [
      { department: 'sports', status: 'published' },
      { authorId: 'a', status: 'draft' },
    ];
    expect(await may(editor, 'update', published)).toBe(true);
    expect(await may(editor, 'delete', published)).toBe(false);
    expect(await may(editor, 'update', { department: 'politics' })).toBe(false);
    expect(await may(editor, 'update', published, '2026-03-01T10:00:00Z')).toBe(false);
    expect(await may(author, 'delete', draft)).toBe(true);
    expect(await may(author, 'read', { ...draft, status: 'published' })).toBe(false);
    expect(await may({ id: known['CLEO'] }, 'create', { name: 'Comment' })).toBe(true);
    expect(await may({ id: known['CLEO'] }, 'create', { name: 'Comment' }, '2030-01-01T10:00:00Z')).toBe(false);
  });

  it('the newsroom of the guide to policies has access queries with the responses shown', async () => {
    for (const [index, part] of ['test-access', 'who-can', 'permissions'].entries())
      expect(await type(part)).toMatchObject(toExpected(JSON.parse(answers[index] ?? '')) as object);
  });

  it('activating one policy locks the newsroom of the guide, and the inactive policy has no findings', async () => {
    const about = (await send('GET', `/admin/api/policies-advice?policyId=${known['LOCK']}`)).at('data');
    expect(about).toEqual([]);
    expect(await type('$LOCK')).toMatchObject({ success: true, data: { isActive: true } });
    expect(await may({ id: known['CLEO'] }, 'create', { name: 'Comment' })).toBe(false);
    expect(await may({ id: admin.id }, 'create', { name: 'Comment' })).toBe(true);
  });
});

/** Converts a shown response, which may be shortened: its list items must be among the actual ones. */
function toExpected(shown: unknown): unknown {
  if (Array.isArray(shown)) return expect.arrayContaining(shown.map(toExpected));
  if (typeof shown === 'string' && shown.includes('…')) return expect.stringMatching(toPattern(shown));
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, toExpected(value)])));
}
