/** Conditions that follow one reference: the value stands in another record, through every door as through one. */
import { afterAll, beforeAll, describe } from 'vitest';
import { asks, lists, mayNot, mayNotRead, reads, startAuthors, traced } from './references-service.ts';
import { checkScenarios, type Scenario, type Stage } from './scenario.ts';

const NO_ONE = '00000000-0000-7000-8000-000000000000';
const DENIED = 'denied by rule "never" of policy "authors"';

let stage: Stage;
beforeAll(async () => {
  stage = await startAuthors();
});
afterAll(() => stage.service.close());

const is = (field: string, operator: string, value: unknown, more: object = {}): object => ({ field, operator, value, ...more });
const when = (...conditions: object[]): object => ({ resource: 'Article', action: '*', conditions });
const never = (...conditions: object[]): object => ({ ...when(...conditions), effect: 'DENY', priority: 200, description: 'never' });
const sports = is('resource.authorId.department', 'eq', 'sports');
const politics = is('resource.authorId.department', 'eq', 'politics');
const sameDepartment = is('resource.authorId.department', 'eq', '${user.department}');
const everything = when();

/** What Asa asks while these are all the rules there are. */
function under(name: string, rules: readonly object[], scenarios: readonly Scenario[]): void {
  describe(name, () => {
    const given = { name: 'given these rules', as: 'admin', send: 'PUT /admin/api/policies/{policy}', body: { rules } };
    checkScenarios(() => stage, [{ ...given, status: 200, entries: [{ kind: 'admin' }] }, ...scenarios]);
  });
}

const changes = (send: string, body: object, recordId: string): Scenario => ({
  name: `${send} ${JSON.stringify(body)}`,
  as: 'asa',
  send,
  body,
  status: 200,
  entries: [{ action: 'update', allowed: true, recordId }],
});

under(
  'an ALLOW where the author is of the same department',
  [when(sameDepartment)],
  [
    reads('one'),
    mayNotRead('two', 'another department'),
    mayNotRead('three', 'no author, so nothing to compare'),
    mayNotRead('five', 'an author of no department'),
    mayNot(`GET /api/Article/${NO_ONE}`, { name: 'may not read what does not exist, in the same words' }),
    lists('one', 'four'),
    { ...lists('four'), name: 'its own filter on top', send: 'GET /api/Article?where[parentId]={two}' },
    {
      name: 'counts',
      as: 'asa',
      send: 'GET /api/Article?total=true&limit=1&sort=createdAt',
      status: 200,
      body_has: { count: 1, total: 2, data: [{ title: 'one' }] },
      keep: { next: 'nextCursor' },
      entries: [{ action: 'list', allowed: true }],
    },
    {
      ...lists('four'),
      name: 'goes on to the next page',
      send: 'GET /api/Article?limit=1&sort=createdAt&cursor={next}',
      body_lacks: ['nextCursor'],
    },
    {
      name: 'exports the same',
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
  'and writing under it',
  [when(sameDepartment)],
  [
    {
      name: 'creates for an author of the department',
      as: 'asa',
      send: 'POST /api/Article',
      body: { title: 'new', authorId: '{sam}' },
      status: 201,
      keep: { new: 'data.id' },
      entries: [{ action: 'create', allowed: true }],
    },
    mayNot('POST /api/Article', { name: 'not for another', body: { title: 'new', authorId: '{pia}' } }),
    mayNot('POST /api/Article', { name: 'not for none', body: { title: 'new' } }),
    mayNot('POST /api/Article', {
      name: 'not for an author who does not exist, in the same words',
      body: { title: 'new', authorId: NO_ONE },
    }),
    mayNot('POST /api/Article/import', { name: 'nor by import', body: { data: [{ title: 'new', authorId: '{pia}' }] } }),
    changes('PUT /api/Article/{new}', { title: 'newer' }, '{new}'),
    mayNot('PUT /api/Article/{new}', { name: 'may not give it away: decided as it would become', body: { authorId: '{pia}' } }),
    mayNot('PUT /api/Article/{new}', { name: 'nor leave it without an author', body: { authorId: null } }),
    mayNot('PUT /api/Article/{two}', { name: 'may not take what it may not touch: decided as it is', body: { authorId: '{sam}' } }),
    mayNot('DELETE /api/Article/{two}', { name: 'may not delete it either' }),
    {
      name: 'deletes its own department’s',
      as: 'asa',
      send: 'DELETE /api/Article/{new}',
      status: 200,
      entries: [{ action: 'delete', allowed: true, recordId: '{new}' }],
    },
  ],
);

under(
  'a DENY where the author is of a department: what is missing is denied too',
  [everything, never(politics)],
  [
    reads('one'),
    mayNotRead('two', 'that department', DENIED),
    mayNotRead('three', 'no author, so the DENY fires', DENIED),
    mayNotRead('five', 'an author of no department: so too', DENIED),
    lists('one', 'four'),
    mayNot('POST /api/Article', { name: 'creates for none', body: { title: 'new' }, reason: DENIED }),
  ],
);

under(
  'the same with ifExists',
  [everything, never({ ...politics, ifExists: true })],
  [mayNotRead('two', 'that department', DENIED), reads('three'), reads('five'), lists('one', 'three', 'four', 'five')],
);

under(
  'with something SQL cannot say beside it',
  [when(sports, is('resource.title', 'matches', '^f'))],
  [
    reads('four'),
    mayNotRead('one', 'another title'),
    lists('four'),
    {
      name: 'does not count',
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
  'or something SQL cannot say in its place',
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
  'a resource that refers to itself',
  [when(is('resource.parentId.title', 'eq', 'two'))],
  [reads('four'), mayNotRead('two', 'no parent'), lists('four')],
);

under(
  'CEL that follows one',
  [when({ expression: 'resource.authorId.department == user.department' })],
  [reads('one'), mayNotRead('two', 'another department'), mayNotRead('three', 'no author'), lists('one', 'four')],
);

under(
  'CEL beyond our own conditions that follows one',
  [when({ expression: 'size(resource.authorId.department) == 6' })],
  [reads('one'), mayNotRead('two', 'another size'), mayNotRead('three', 'no author'), lists('one', 'four')],
);

under(
  'what was decided, and what it was decided on',
  [when(sameDepartment)],
  [
    { ...mayNotRead('two', 'for the record'), keep: { decision: 'decisionId' } },
    { ...asks('two', false, traced('false', 'politics')), name: 'a test shows the value it met' },
    { ...asks('three', false, traced('unknown')), name: 'and that there was none' },
    {
      name: 'Pia goes over to sports',
      as: 'admin',
      send: 'PUT /api/User/{pia}',
      body: { department: 'sports' },
      status: 200,
      entries: [{ resource: 'User', action: 'update', allowed: true }],
    },
    reads('two'),
    lists('one', 'two', 'four'),
    {
      name: 'the decision of then is explained with the department of then',
      as: 'admin',
      send: 'GET /admin/api/decisions/{decision}',
      status: 200,
      body_has: { data: { allowed: false, facts: { 'resource.authorId.department': 'politics' }, trace: [traced('false', 'politics')] } },
    },
    { ...asks('two', true, traced('true', 'sports')), name: 'a test now, with that of now' },
    {
      name: 'Pia leaves, and her article has no author',
      as: 'admin',
      send: 'DELETE /api/User/{pia}',
      status: 200,
      entries: [{ resource: 'User', action: 'delete', allowed: true }],
    },
    mayNotRead('two', 'nobody’s now'),
    lists('one', 'four'),
  ],
);

under(
  'a rule on every resource',
  [{ ...when(sameDepartment), resource: '*' }],
  [
    reads('one'),
    lists('one', 'four'),
    mayNot('GET /api/Team/{team}', { name: 'where a resource has no such reference, there is nothing to compare' }),
    mayNot('GET /api/Team'),
  ],
);

describe('a filter of the caller follows no reference', () => {
  const refused = (query: string): Scenario => ({
    name: query,
    as: 'admin',
    send: `GET /api/Article?${query}`,
    status: 400,
    body_has: { code: 'REQUEST_FIELD' },
    entries: [{ action: 'list', allowed: true, outcome: 'REQUEST_FIELD' }],
  });
  const queries = ['where[authorId.department]=sports', 'where[authorId.password][exists]=true', 'sort=authorId.department'];
  checkScenarios(() => stage, queries.map(refused));
});

describe('writing such a policy', () => {
  const refused = (name: string, condition: object, member: string, detail?: string): Scenario => ({
    name,
    as: 'admin',
    send: 'PUT /admin/api/policies/{policy}',
    body: { rules: [when(condition)] },
    status: 422,
    body_has: { code: 'POLICY_INVALID', errors: [{ path: `rules.0.conditions.0.${member}`, ...(detail !== undefined && { detail }) }] },
  });
  const secret = 'field "password" of User is secret: conditions cannot read it';
  checkScenarios(
    () => stage,
    [
      refused('a secret field of the other', is('resource.authorId.password', 'exists', true), 'field', secret),
      refused('a secret field on the right', is('user.id', 'eq', '${resource.authorId.password}'), 'value', secret),
      refused(
        'a secret field that the user refers to',
        is('user.teamId.code', 'eq', 'x'),
        'field',
        'field "code" of Team is secret: conditions cannot read it',
      ),
      refused(
        'an unknown field of the other',
        is('resource.authorId.departmnt', 'eq', 'sports'),
        'field',
        'resource User has no field "departmnt" (did you mean "department"?)',
      ),
      refused(
        'two references',
        is('resource.authorId.teamId.label', 'eq', 'one'),
        'field',
        '"resource.authorId.teamId.label" follows two references; conditions follow one',
      ),
      refused(
        'two references that come back',
        is('resource.parentId.parentId.title', 'eq', 'one'),
        'field',
        '"resource.parentId.parentId.title" follows two references; conditions follow one',
      ),
      refused('an operator that does not fit the other’s field', is('resource.authorId.isActive', 'startsWith', 't'), 'operator'),
    ],
  );
});
