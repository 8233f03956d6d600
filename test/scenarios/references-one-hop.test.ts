/** Conditions that follow one reference and read a value of the referenced record, in every action. */
import { afterAll, beforeAll, describe } from 'vitest';
import { createChain } from '../chain.ts';
import { asks, lists, mayNot, mayNotRead, reads, startAuthors, traced } from './references-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

const NO_ONE = '00000000-0000-7000-8000-000000000000';
const DENIED = 'denied by rule "never" of policy "authors"';

let context: ScenarioContext;
beforeAll(async () => {
  context = await startAuthors();
});
afterAll(() => context.service.close());

const is = (field: string, operator: string, value: unknown, more: object = {}): object => ({ field, operator, value, ...more });
const when = (...conditions: object[]): object => ({ resource: 'Article', action: '*', conditions });
const never = (...conditions: object[]): object => ({ ...when(...conditions), effect: 'DENY', priority: 200, description: 'never' });
const sports = is('resource.authorId.department', 'eq', 'sports');
const politics = is('resource.authorId.department', 'eq', 'politics');
const sameDepartment = is('resource.authorId.department', 'eq', '${user.department}');
const everything = when();

/** Registers scenarios of Asa under the given rules. */
function under(name: string, rules: readonly object[], scenarios: readonly Scenario[]): void {
  describe(name, () => {
    const given = { name: `the admin sets the rules: ${name}`, as: 'admin', send: 'PUT /admin/api/policies/{policy}', body: { rules } };
    const named = scenarios.map((scenario) => ({ ...scenario, name: `${scenario.name}, under ${name}` }));
    checkScenarios(() => context, [{ ...given, status: 200, entries: [{ kind: 'admin' }] }, ...named], it);
  });
}

const changes = (send: string, body: object, recordId: string): Scenario => ({
  name: `allows ${send} ${JSON.stringify(body)}`,
  as: 'asa',
  send,
  body,
  status: 200,
  entries: [{ action: 'update', allowed: true, recordId }],
});

under(
  'an ALLOW for authors of the same department',
  [when(sameDepartment)],
  [
    reads('one'),
    mayNotRead('two', 'another department'),
    mayNotRead('three', 'no author, so nothing to compare'),
    mayNotRead('five', 'an author of no department'),
    mayNot(`GET /api/Article/${NO_ONE}`, { name: 'denies a read of a missing record for the same reason' }),
    lists('one', 'four'),
    { ...lists('four'), name: 'combines the policy with a filter', send: 'GET /api/Article?where[parentId]={two}' },
    {
      name: 'counts the total',
      as: 'asa',
      send: 'GET /api/Article?total=true&limit=1&sort=createdAt',
      status: 200,
      body_has: { count: 1, total: 2, data: [{ title: 'one' }] },
      keep: { next: 'nextCursor' },
      entries: [{ action: 'list', allowed: true }],
    },
    {
      ...lists('four'),
      name: 'continues on the next page',
      send: 'GET /api/Article?limit=1&sort=createdAt&cursor={next}',
      body_lacks: ['nextCursor'],
    },
    {
      name: 'exports the same records',
      as: 'asa',
      send: 'POST /api/Article/export',
      body: { sort: ['createdAt'] },
      status: 200,
      body_has: { count: 2, data: [{ title: 'one' }, { title: 'four' }] },
      entries: [{ action: 'export', allowed: true }],
    },
  ],
);

under(
  'an ALLOW of writes for authors of the same department',
  [when(sameDepartment)],
  [
    {
      name: 'allows a create for an author of the department',
      as: 'asa',
      send: 'POST /api/Article',
      body: { title: 'new', authorId: '{sam}' },
      status: 201,
      keep: { new: 'data.id' },
      entries: [{ action: 'create', allowed: true }],
    },
    mayNot('POST /api/Article', { name: 'denies a create for an author of another department', body: { title: 'new', authorId: '{pia}' } }),
    mayNot('POST /api/Article', { name: 'denies a create without an author', body: { title: 'new' } }),
    mayNot('POST /api/Article', {
      name: 'denies a create for a missing author for the same reason',
      body: { title: 'new', authorId: NO_ONE },
    }),
    mayNot('POST /api/Article/import', {
      name: 'denies an import for an author of another department',
      body: { data: [{ title: 'new', authorId: '{pia}' }] },
    }),
    changes('PUT /api/Article/{new}', { title: 'newer' }, '{new}'),
    mayNot('PUT /api/Article/{new}', { name: 'a change of the author is decided on the changed record', body: { authorId: '{pia}' } }),
    mayNot('PUT /api/Article/{new}', { name: 'denies a removal of the author', body: { authorId: null } }),
    mayNot('PUT /api/Article/{two}', { name: 'a change of the author is also decided on the current record', body: { authorId: '{sam}' } }),
    mayNot('DELETE /api/Article/{two}', { name: 'denies a delete of an article of another department' }),
    {
      name: 'allows a delete of an article of the department',
      as: 'asa',
      send: 'DELETE /api/Article/{new}',
      status: 200,
      entries: [{ action: 'delete', allowed: true, recordId: '{new}' }],
    },
  ],
);

under(
  'a DENY for authors of a department, which also denies missing values',
  [everything, never(politics)],
  [
    reads('one'),
    mayNotRead('two', 'that department', DENIED),
    mayNotRead('three', 'a missing author makes the DENY fire', DENIED),
    mayNotRead('five', 'a missing department makes the DENY fire', DENIED),
    lists('one', 'four'),
    mayNot('POST /api/Article', { name: 'denies a create without an author', body: { title: 'new' }, reason: DENIED }),
  ],
);

under(
  'a DENY with ifExists',
  [everything, never({ ...politics, ifExists: true })],
  [mayNotRead('two', 'that department', DENIED), reads('three'), reads('five'), lists('one', 'three', 'four', 'five')],
);

under(
  'a reference and a condition that SQL cannot express',
  [when(sports, is('resource.title', 'matches', '^f'))],
  [
    reads('four'),
    mayNotRead('one', 'another title'),
    lists('four'),
    {
      name: 'names in a warning why a list has no total',
      as: 'asa',
      send: 'GET /api/Article?total=true',
      status: 200,
      body_has: { count: 1, warnings: ['total is not available: a condition that applies here is evaluated record by record'] },
      body_lacks: ['total'],
      entries: [{ action: 'list', allowed: true }],
    },
  ],
);

under(
  'a reference or a condition that SQL cannot express',
  [when({ anyOf: [sports, is('resource.title', 'matches', '^th')] })],
  [reads('three'), mayNotRead('two', 'neither'), lists('one', 'three', 'four')],
);

under(
  'a reference of the user',
  [when(is('resource.title', 'eq', '${user.teamId.label}'))],
  [reads('one'), mayNotRead('two', 'another title'), lists('one')],
);

under(
  'references on both sides',
  [when(is('user.teamId', 'eq', '${resource.authorId.teamId}'))],
  [reads('two'), mayNotRead('one', 'an author of no team'), mayNotRead('three', 'no author'), lists('two')],
);

under(
  'a resource that references itself',
  [when(is('resource.parentId.title', 'eq', 'two'))],
  [reads('four'), mayNotRead('two', 'no parent'), lists('four')],
);

under(
  'a CEL expression that compiles to conditions',
  [when({ expression: 'resource.authorId.department == user.department' })],
  [reads('one'), mayNotRead('two', 'another department'), mayNotRead('three', 'no author'), lists('one', 'four')],
);

under(
  'a CEL expression that does not compile to conditions',
  [when({ expression: 'size(resource.authorId.department) == 6' })],
  [reads('one'), mayNotRead('two', 'another size'), mayNotRead('three', 'no author'), lists('one', 'four')],
);

under(
  'an explained ALLOW for authors of the same department',
  [when(sameDepartment)],
  [
    { ...mayNotRead('two', 'another department'), keep: { decision: 'decisionId' } },
    { ...asks('two', false, traced('false', 'politics')), name: 'a test shows the value that was compared' },
    { ...asks('three', false, traced('unknown')), name: 'a test shows that there was no value' },
    {
      name: 'Pia moves to sports',
      as: 'admin',
      send: 'PUT /api/User/{pia}',
      body: { department: 'sports' },
      status: 200,
      entries: [{ resource: 'User', action: 'update', allowed: true }],
    },
    reads('two'),
    lists('one', 'two', 'four'),
    {
      name: 'the earlier decision is explained with the earlier department',
      as: 'admin',
      send: 'GET /admin/api/decisions/{decision}',
      status: 200,
      body_has: { data: { allowed: false, facts: { 'resource.authorId.department': 'politics' }, trace: [traced('false', 'politics')] } },
    },
    { ...asks('two', true, traced('true', 'sports')), name: 'a test uses the current department' },
    {
      name: 'Pia is deleted, and her article has no author',
      as: 'admin',
      send: 'DELETE /api/User/{pia}',
      status: 200,
      entries: [{ resource: 'User', action: 'delete', allowed: true }],
    },
    mayNotRead('two', 'no author any more'),
    lists('one', 'four'),
  ],
);

under(
  'a rule on every resource',
  [{ ...when(sameDepartment), resource: '*' }],
  [
    reads('one'),
    lists('one', 'four'),
    mayNot('GET /api/Team/{team}', { name: 'denies access to a resource without the reference' }),
    mayNot('GET /api/Team'),
  ],
);

describe('a filter of the caller that follows a reference', () => {
  const refused = (query: string): Scenario => ({
    name: `refuses a filter or a sort key that follows a reference: ${query}`,
    as: 'admin',
    send: `GET /api/Article?${query}`,
    status: 400,
    body_has: { code: 'REQUEST_FIELD' },
    entries: [{ action: 'list', allowed: true, outcome: 'REQUEST_FIELD' }],
  });
  const queries = ['where[authorId.department]=sports', 'where[authorId.password][exists]=true', 'sort=authorId.department'];
  checkScenarios(() => context, queries.map(refused), it);
});

describe('a policy that follows references', () => {
  const refused = (name: string, condition: object, member: string, detail?: string): Scenario => ({
    name: `refuses a policy with ${name}${detail === undefined ? '' : ', and says why in the message'}`,
    as: 'admin',
    send: 'PUT /admin/api/policies/{policy}',
    body: { rules: [when(condition)] },
    status: 422,
    body_has: { code: 'POLICY_INVALID', errors: [{ path: `rules.0.conditions.0.${member}`, ...(detail !== undefined && { detail }) }] },
  });
  const secret = 'field "password" of User is secret: conditions cannot read it';
  checkScenarios(
    () => context,
    [
      refused('a secret field of the referenced record', is('resource.authorId.password', 'exists', true), 'field', secret),
      refused('a secret field in the operand', is('user.id', 'eq', '${resource.authorId.password}'), 'value', secret),
      refused(
        'a secret field of a record that the user references',
        is('user.teamId.code', 'eq', 'x'),
        'field',
        'field "code" of Team is secret: conditions cannot read it',
      ),
      refused(
        'an unknown field of the referenced record',
        is('resource.authorId.departmnt', 'eq', 'sports'),
        'field',
        'resource User has no field "departmnt" (did you mean "department"?)',
      ),
      refused('an operator that does not fit the referenced field', is('resource.authorId.isActive', 'startsWith', 't'), 'operator'),
    ],
    it,
  );
});
