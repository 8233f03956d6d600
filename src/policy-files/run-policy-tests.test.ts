import { describe, expect, it } from 'vitest';
import { toJUnitReport } from './junit-report.ts';
import { POLICIES, runFiles } from './policy-folder.fixture.ts';
import { printTestRun, toTestSummary } from './print-tests.ts';
import { toTestId } from './test-ids.ts';

const FIXTURES = `
now: 2026-03-02T10:00:00Z
users: { mia: {}, tom: { role: user }, eda: { isActive: false } }
assignments: { tom: [Night] }
records:
  Article:
    draft: { authorId: mia, title: A draft }
    news: { authorId: mia, status: published }
    toms: { authorId: tom, reviewerIds: [mia] }
    orphan: {}
`;

function run(tests: string, fixtures: string = FIXTURES) {
  return runFiles({ 'a.yaml': POLICIES, 'a.test.yaml': `${fixtures}\ntests:\n${tests}` });
}

const ENDPOINT_FIXTURES = 'users: { mia: {} }\nrecords: { Article: { draft: {} } }';
const ID = toTestId('Article', 'draft');

/** Returns a policy that allows each action if the request has this method and path. */
function sentTo(method: string, path: string): string {
  const conditions = `[{ field: request.method, operator: eq, value: ${method} }, { field: request.path, operator: eq, value: ${path} }]`;
  return `{ name: All, type: ATTRIBUTE_BASED, roles: [{ role: user }], rules: [{ resource: Article, action: "*", conditions: ${conditions} }] }`;
}

const MATRIX = `
  - name: authors have their own articles
    resource: Article
    allow:
      mia: { read: [draft, news], list: [draft, news], update: [draft, news], delete: [draft] }
      tom: { read: [toms], list: [toms], update: [toms], delete: [toms] }
`;

describe('runPolicyTests', () => {
  it('decides each user, action and record of a matrix, and expects a denial of everything that is not listed', async () => {
    const { cases, failed, files } = await run(MATRIX);
    expect([cases, failed]).toEqual([4 * 4 * 4, 0]);
    expect(files[0]?.results.filter(({ effect }) => effect === 'ALLOW')).toHaveLength(11);
  });

  it('reports a decision that was not expected, in both directions, with its explanation', async () => {
    const result = await run(MATRIX.replace('update: [draft, news]', 'update: [draft, orphan]'));
    expect(result.failed).toBe(2);
    const printed = printTestRun(result);
    expect(printed).toEqual(
      expect.arrayContaining([
        'policies/a.test.yaml',
        '  authors have their own articles: mia, update Article "news"',
        '    expected DENY, got ALLOW (allowed by rule "own articles" of policy "Authors")',
        '  authors have their own articles: mia, update Article "orphan"',
        '    expected ALLOW, got DENY (no rule matched)',
        '    rule "own articles" of policy "Authors": ALLOW did not fire, its conditions are unknown',
        '      resource.authorId eq ${user.id}: unknown (resource.authorId has no value, expected "mia")',
      ]),
    );
    expect(printed.at(-1)).toBe('62 passed, 2 failed; 2 of 3 rules decided a case');
    expect(printed.at(-2)).toBe('no case is decided by rule "not at night" of policy "Night" (read Article)');
    expect(toTestSummary(result)).toMatchObject({ cases: 64, failed: 2, failures: [{ user: 'mia', record: 'news', effect: 'ALLOW' }, {}] });
  });

  const LISTS = `
  - name: authors list their own articles
    resource: Article
    list: { mia: [news, draft], tom: [toms], eda: DENY, anon: DENY }
`;

  it('a list shows exactly its records, and counts the rules that decide them', async () => {
    const result = await run(LISTS);
    expect([result.cases, result.failed], printTestRun(result).join('\n')).toEqual([4, 0]);
    expect(result.untested).not.toContainEqual({ policy: 'Authors', rule: 'own articles' });
    expect((await run(LISTS.replace('anon: DENY', 'anon: []'))).failed, 'a refused list shows no record').toBe(0);
  });

  it('a list that shows other records names them, with the decision on the first', async () => {
    const printed = printTestRun(await run(LISTS.replace('[news, draft]', '[draft, orphan]').replace('tom: [toms]', 'tom: DENY')));
    expect(printed).toEqual(
      expect.arrayContaining([
        '  authors list their own articles: mia, list Article',
        '    expected a list of "draft", "orphan", got a list without "orphan" and with "news"',
        '      resource.authorId eq ${user.id}: unknown (resource.authorId has no value, expected "mia")',
        '  authors list their own articles: tom, list Article',
        '    expected DENY, got a list with "toms"',
        '2 passed, 2 failed; 1 of 3 rules decided a case',
      ]),
    );
  });

  it('says how to expect a list that is allowed and shows no record', async () => {
    const printed = printTestRun(await run(LISTS.replace('tom: [toms]', 'tom: DENY'), FIXTURES.replace('authorId: tom', 'authorId: mia')));
    expect(printed).toContain('    expected DENY, got a list that is allowed and shows no record; expect it with []');
  });

  it('a list is decided at the time and from the address of its test', async () => {
    const nightly = POLICIES.replace('name: Night', 'name: Night\n    roles: [{ role: user }]').replace('action: read', 'action: list');
    const at = (hour: string, shown: string) =>
      `  - { name: at, resource: Article, environment: { timestamp: 2026-03-02T${hour}:00:00Z }, list: { mia: ${shown} } }\n`;
    const tests = `${FIXTURES}\ntests:\n${at('03', '[]')}${at('07', '[draft, news]')}`;
    const result = await runFiles({ 'a.yaml': nightly, 'a.test.yaml': tests });
    expect(result.failed, printTestRun(result).join('\n')).toBe(0);
  });

  it('creates the records at the time of the file', async () => {
    const policies =
      'name: All\ntype: ATTRIBUTE_BASED\nroles: [{ role: user }]\nrules: [{ resource: Article, action: read, conditions: [{ field: resource.createdAt, operator: eq, value: 2026-03-02T10:00:00Z }] }]';
    const tests = '  - { name: a, resource: Article, action: read, record: draft, expect: { mia: ALLOW } }';
    const result = await runFiles({
      'a.yaml': policies,
      'a.test.yaml': `${FIXTURES.replace('assignments: { tom: [Night] }', '')}\ntests:\n${tests}`,
    });
    expect(result.failed).toBe(0);
  });

  it('decides at the time of the test, else at that of the file', async () => {
    const at = (timestamp: string, expected: string) =>
      `  - { name: night, resource: Article, environment: { ${timestamp} }, action: read, record: toms, expect: { tom: ${expected} } }\n`;
    const { failed } = await run(
      at('', 'ALLOW') + at('timestamp: 2026-03-02T03:00:00Z', 'DENY') + at('timestamp: 2026-03-02T07:00:00Z', 'ALLOW'),
    );
    expect(failed).toBe(0);
  });

  it('null in a record is a missing value, also in a field with a default', async () => {
    const policies =
      'name: All\ntype: ATTRIBUTE_BASED\nroles: [{ role: user }]\nrules: [{ resource: Article, action: read, conditions: [{ field: resource.status, operator: isNull, value: true }] }]';
    const tests = '  - { name: a, resource: Article, allow: { mia: { read: [cleared] } } }';
    const result = await runFiles({
      'a.yaml': policies,
      'a.test.yaml': `users: { mia: {} }\nrecords: { Article: { cleared: { status: null }, fresh: {} } }\ntests:\n${tests}`,
    });
    expect(result.failed).toBe(0);
  });

  const RESTORES = {
    'a.yaml': `name: Pages
type: ATTRIBUTE_BASED
roles: [{ role: user }]
rules:
  - { resource: Page, action: delete }
  - { resource: Page, action: delete, effect: DENY, priority: 200, conditions: [{ field: resource.deletedAt, operator: exists, value: true }, { field: resource.deletedBy, operator: ne, value: "\${user.id}" }] }`,
    'a.test.yaml': `users: { mia: {}, tom: {} }
records: { Page: { a: { deletedAt: 2026-01-01T00:00:00Z, deletedBy: mia }, b: {} } }
tests:
  - { name: request, resource: Page, action: restore, record: a, expect: { mia: ALLOW, tom: DENY, anon: DENY } }
  - { name: matrix, resource: Page, records: [a], allow: { mia: { restore: all } } }
  - { name: delete, resource: Page, action: delete, record: b, expect: { tom: ALLOW } }`,
  };

  it('decides a restore on the deleted record', async () => {
    const result = await runFiles(RESTORES);
    expect([result.cases, result.failed], printTestRun(result).join('\n')).toEqual([7, 0]);
  });

  const endpoints: readonly [action: string, method: string, path: string, members: string][] = [
    ['read', 'GET', `/api/Article/${ID}`, 'record: draft, '],
    ['update', 'PUT', `/api/Article/${ID}`, 'record: draft, '],
    ['delete', 'DELETE', `/api/Article/${ID}`, 'record: draft, '],
    ['create', 'POST', '/api/Article', ''],
    ['list', 'GET', '/api/Article', ''],
    ['export', 'POST', '/api/Article/export', ''],
    ['import', 'POST', '/api/Article/import', ''],
  ];
  it.each(endpoints)('decides %s with the method %s and the path %s', async (action, method, path, members) => {
    const expecting = (expect: string, environment = '') =>
      `  - { name: a, resource: Article, action: ${action}, ${members}environment: { ${environment} }, expect: { mia: ${expect} } }\n`;
    const tests = expecting('ALLOW') + expecting('DENY', 'method: POST, path: /api/batch');
    const result = await runFiles({ 'a.yaml': sentTo(method, path), 'a.test.yaml': `${ENDPOINT_FIXTURES}\ntests:\n${tests}` });
    expect(result.failed, printTestRun(result).join('\n')).toBe(0);
  });

  it('a matrix and a list are decided with the method and the path of their endpoints', async () => {
    const tests = `
  - { name: other, resource: Article, allow: { mia: { list: all, read: [] } } }
  - { name: listed, resource: Article, list: { mia: [draft] } }
  - { name: batch, resource: Article, environment: { method: POST, path: /api/batch }, list: { mia: DENY } }`;
    const result = await runFiles({ 'a.yaml': sentTo('GET', '/api/Article'), 'a.test.yaml': `${ENDPOINT_FIXTURES}\ntests:${tests}` });
    expect(result.failed, printTestRun(result).join('\n')).toBe(0);
  });

  it('gives an assigned policy to its user alone', async () => {
    const night = '    resource: Article\n    environment: { timestamp: 2026-03-02T03:00:00Z }\n';
    const { failed } = await run(`  - name: night\n${night}    allow: { mia: { read: [draft, news] }, tom: { read: [] } }\n`);
    expect(failed).toBe(0);
  });

  const requests: readonly [what: string, test: string, failed: number][] = [
    ['a create on its data', 'action: create, data: { title: New, authorId: mia }, expect: { mia: ALLOW, tom: DENY, anon: DENY }', 0],
    ['an update on the changed record', 'action: update, record: draft, data: { authorId: tom }, expect: { mia: DENY }', 0],
    ['a list without a record, which some records allow', 'action: list, expect: { mia: ALLOW, anon: DENY }', 0],
    ['a request of an inactive user', 'action: list, expect: { eda: DENY }', 0],
    ['an expected reason', 'action: delete, record: news, expect: { mia: DENY }, reason: published articles stay', 0],
    ['another reason', 'action: delete, record: news, expect: { mia: DENY }, reason: no rule matched', 1],
    [
      'data that the service would reject, although it is denied as expected',
      'action: create, data: { titel: New, authorId: mia }, expect: { tom: DENY }',
      1,
    ],
  ];
  it.each(requests)('decides a request of a policy test: %s', async (_, test, failed) => {
    expect((await run(`  - { name: a, resource: Article, ${test} }`)).failed).toBe(failed);
  });

  it('counts rules of one description apart, by their action', async () => {
    const rule = (action: string) => `{ resource: Article, action: ${action}, description: all articles }`;
    const policies = `name: All\ntype: ROLE_BASED\nroles: [{ role: user }]\nrules: [${rule('read')}, ${rule('list')}]`;
    const tests = '  - { name: a, resource: Article, action: list, expect: { mia: ALLOW } }';
    const result = await runFiles({ 'a.yaml': policies, 'a.test.yaml': `users: { mia: {} }\ntests:\n${tests}` });
    expect(result.untested).toEqual([{ policy: 'All', rule: 'all articles', action: 'read', resource: 'Article' }]);
  });

  it('counts rules of one action and resource apart, by their place in the policy', async () => {
    const rule = (parts: string) => `{ resource: Article, action: read${parts} }`;
    const published = 'conditions: [{ field: resource.status, operator: eq, value: published }]';
    const policies = `name: All\ntype: ROLE_BASED\nroles: [{ role: user }]\nrules: [${rule('')}, ${rule(`, effect: DENY, priority: 200, ${published}`)}]`;
    const tests = '  - { name: a, resource: Article, action: read, record: a, expect: { mia: ALLOW } }';
    const result = await runFiles({
      'a.yaml': policies,
      'a.test.yaml': `users: { mia: {} }\nrecords: { Article: { a: {} } }\ntests:\n${tests}`,
    });
    expect(result.untested).toEqual([{ policy: 'All', rule: 'read Article', action: 'read', resource: 'Article' }]);
  });

  it('counts the rules that decide the current and the changed record of an update', async () => {
    const rule = (title: string) =>
      `{ resource: Article, action: update, description: ${title}, conditions: [{ field: resource.title, operator: eq, value: ${title} }] }`;
    const policies = `name: All\ntype: ATTRIBUTE_BASED\nroles: [{ role: user }]\nrules: [${rule('old')}, ${rule('new')}]`;
    const tests = '  - { name: a, resource: Article, action: update, record: a, data: { title: new }, expect: { mia: ALLOW } }';
    const result = await runFiles({
      'a.yaml': policies,
      'a.test.yaml': `users: { mia: {} }\nrecords: { Article: { a: { title: old } } }\ntests:\n${tests}`,
    });
    expect([result.failed, result.untested]).toEqual([0, []]);
  });

  it('gives each file a database of its own', async () => {
    const test = `\ntests:\n  - { name: a, resource: Article, action: list, expect: { mia: ALLOW } }`;
    const files = { 'a.yaml': POLICIES, 'a.test.yaml': FIXTURES + test, 'b.test.yaml': FIXTURES + test };
    const { files: results, failed } = await runFiles(files);
    expect(failed).toBe(0);
    expect(results.map(({ file }) => file)).toEqual(['policies/a.test.yaml', 'policies/b.test.yaml']);
  });
});

describe('toJUnitReport', () => {
  it('renders a suite for each file and a case for each request, with the explanation of failed ones', async () => {
    const xml = toJUnitReport(
      await run('  - { name: "a < b & \\"c\\"", resource: Article, action: list, expect: { mia: DENY, tom: ALLOW } }'),
    );
    expect(xml).toContain('<testsuites name="policies" tests="2" failures="1">');
    expect(xml).toContain('<testcase classname="a &lt; b &amp; &quot;c&quot;" name="tom, list Article"/>');
    expect(xml).toContain('<failure message="expected DENY, got ALLOW (');
    expect(xml.match(/<testcase /g)).toHaveLength(2);
  });
});
