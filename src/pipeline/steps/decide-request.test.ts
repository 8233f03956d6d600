import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALWAYS, evaluate, UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { failure } from '../../storage/storage.fixture.ts';
import { inShort, openPipeline, type Situation, type TestPipeline, type TestRequest, type TestRule } from '../pipeline.fixture.ts';
import type { RequestContext } from '../request-context.ts';
import {
  allowedWhere,
  asRead,
  authorize,
  authorizeAgain,
  authorizeEach,
  decideOn,
  decideOnEach,
  mayRead,
  restrictionFor,
} from './decide-request.ts';

let test: TestPipeline;
const durations: number[] = [];
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Team: { fields: { name: { type: 'string' } } },
      User: { fields: { teamId: { type: 'reference', to: 'Team', onDelete: 'setNull' } } },
      Article: {
        fields: { status: { type: 'string' }, authorId: { type: 'reference', to: 'User', onDelete: 'setNull' } },
      },
    },
    records: {
      Team: { north: { name: 'north' } },
      Article: { open: { status: 'open', authorId: 'ann' }, closed: { status: 'closed', authorId: 'ben' } },
    },
    deps: { observer: { decided: (ms) => durations.push(ms), recorded: () => undefined } },
  });
});
afterAll(() => test.dispose());

const is = (field: string, value: string): NonNullable<TestRule['conditions']>[number] => ({ field, operator: 'eq', value });
const allow = (action: string, ...conditions: NonNullable<TestRule['conditions']>): TestRule => ({
  resource: 'Article',
  action,
  conditions,
});
const OPEN = { id: 'open', version: 1, status: 'open', authorId: 'ann' };
const none = () => 'unknown' as const;
const CLOSED = { id: 'closed', version: 1, status: 'closed', authorId: 'ben' };

/** Runs `work` as Ann, who updates an article. */
const asAnn = (rules: readonly TestRule[], work: (context: RequestContext) => Promise<void>, more: Partial<Situation> = {}) =>
  test.inContext({ as: 'ann', request: { action: 'update', resource: 'Article', id: 'open' }, rules, ...more }, work);

const problemOf = async (promise: Promise<unknown>): Promise<Problem> => {
  const error = await failure(promise);
  if (error instanceof Problem) return error;
  throw error ?? new Error('expected a problem');
};

describe('authorize', () => {
  it('authorize returns the decision and adds an entry that names the caller, the record, the rule and the revision', async () => {
    await asAnn([allow('update')], async (context) => {
      const decision = await authorize(context, { record: OPEN, recordId: 'open' });
      expect(decision.effect).toBe('allow');
      const ruleId = decision.effect === 'allow' ? decision.rule.id : undefined;
      expect(context.entries).toMatchObject([
        {
          kind: 'access',
          userId: 'ann',
          role: 'user',
          resource: 'Article',
          action: 'update',
          recordId: 'open',
          allowed: true,
          ruleId,
          epoch: context.snapshot.revision.number,
          requestId: 'r1',
          ip: '192.0.2.1',
        },
      ]);
    });
  });

  it('authorize throws a denial that names its entry', async () => {
    await asAnn([allow('read')], async (context) => {
      const { code, extras } = await problemOf(authorize(context, { record: OPEN, recordId: 'open' }));
      expect([code, extras.decisionId]).toEqual(['ACCESS_DENIED', context.entries[0]?.id]);
      expect(inShort(context.entries)).toEqual(['deny update Article open']);
    });
  });

  it('refuses the change of an admin by a user, although a rule allows it', async () => {
    const request = { action: 'update', resource: 'User', id: 'ada' } as const;
    await asAnn(
      [{}],
      async (context) => {
        const record = { id: 'ada', version: 1, role: 'admin' };
        expect((await problemOf(authorize(context, { record, recordId: 'ada' }))).code).toBe('ACCESS_PROTECTED');
      },
      { request },
    );
  });

  it('reads the records that the caller and the record reference', async () => {
    const rules = [allow('update', is('resource.authorId.email', 'ann@example.com'), is('user.teamId.name', 'north'))];
    await asAnn(rules, async (context) => {
      const { principal } = context;
      const inTeam = { ...context, principal: { ...principal, attributes: { ...principal.attributes, teamId: 'north' } } };
      expect((await decideOn(context, { record: OPEN })).effect).toBe('deny');
      expect((await decideOn(inTeam, { record: OPEN })).effect).toBe('allow');
      expect((await decideOn(inTeam, { record: CLOSED })).effect).toBe('deny');
    });
  });

  it('reports the duration of each decision', async () => {
    await asAnn([allow('update')], async (context) => {
      const before = durations.length;
      await decideOn({ ...context, observer: test.deps.observer }, { record: OPEN });
      await mayRead({ ...context, observer: test.deps.observer }, OPEN);
      expect(durations.length - before).toBe(2);
    });
  });
});

describe('authorizeAgain', () => {
  it('authorizeAgain replaces the last entry of the action, which keeps its id and its place', async () => {
    await asAnn([allow('*', is('resource.status', 'open'))], async (context) => {
      await authorize(context, { record: OPEN, recordId: 'first' });
      await authorize(context, { record: OPEN, recordId: 'second' });
      await authorize(context, { record: OPEN, recordId: 'third', action: 'read' });
      const ids = context.entries.map(({ id }) => id);
      await authorizeAgain(context, { record: OPEN, recordId: 'again' });
      expect(inShort(context.entries)).toEqual(['allow update Article first', 'allow update Article again', 'allow read Article third']);
      expect(context.entries.map(({ id }) => id)).toEqual(ids);
    });
  });

  it('authorizeAgain throws a denial that names the replaced entry', async () => {
    await asAnn([allow('update', is('resource.status', 'open'))], async (context) => {
      await authorize(context, { record: OPEN, recordId: 'open' });
      const [before] = context.entries;
      const { code, extras } = await problemOf(authorizeAgain(context, { record: CLOSED, recordId: 'open' }));
      expect([code, extras.decisionId]).toEqual(['ACCESS_DENIED', before?.id]);
      expect(inShort(context.entries)).toEqual(['deny update Article open']);
    });
  });

  it('authorizeAgain needs an earlier entry of the same action', async () => {
    await asAnn([allow('*')], async (context) => {
      await authorize(context, { record: OPEN, action: 'read' });
      const error = await failure(authorizeAgain(context, { record: OPEN }));
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(Problem);
      expect(inShort(context.entries)).toEqual(['allow read Article']);
    });
  });
});

describe('decisions on several records', () => {
  const onlyOfAnn = [allow('delete', is('resource.authorId.email', 'ann@example.com'))];
  const subjects = (context: RequestContext) =>
    ({ resource: context.resource, action: 'delete', records: [OPEN, CLOSED, { ...OPEN, id: 'last' }] }) as const;

  it('decideOnEach decides each record by its own references, and adds an entry for each', async () => {
    await asAnn(onlyOfAnn, async (context) => {
      const decisions = await decideOnEach(context, subjects(context));
      expect(decisions.map(({ effect }) => effect)).toEqual(['allow', 'deny', 'allow']);
      expect(inShort(context.entries)).toEqual(['allow delete Article open', 'deny delete Article closed', 'allow delete Article last']);
    });
  });

  it('authorizeEach stops at the first denial, which has the hint and names its entry', async () => {
    await asAnn(onlyOfAnn, async (context) => {
      const { code, extras } = await problemOf(authorizeEach(context, { ...subjects(context), hint: 'ask Ben' }));
      expect([code, extras.hint, extras.decisionId]).toEqual(['ACCESS_DENIED', 'ask Ben', context.entries.at(-1)?.id]);
      expect(inShort(context.entries)).toEqual(['allow delete Article open', 'deny delete Article closed']);
    });
  });

  it('an empty list of records needs no decision', async () => {
    await asAnn([], async (context) => {
      const none = { ...subjects(context), records: [] };
      expect(await decideOnEach(context, none)).toEqual([]);
      await authorizeEach(context, { ...none, hint: '' });
      expect(context.entries).toEqual([]);
    });
  });
});

describe('mayRead', () => {
  it.each<[string, readonly TestRule[], boolean]>([
    ['a rule allows reading it', [allow('read')], true],
    ['a rule allows only updating it', [allow('update')], false],
    ['a condition on the record holds', [allow('read', is('resource.status', 'open'))], true],
    ['a condition on the record does not hold', [allow('read', is('resource.status', 'closed'))], false],
    ['only a condition on the sent data holds', [allow('read', is('request.data.status', 'open'))], false],
  ])('mayRead adds no entry if %s', async (_, rules, expected) => {
    const request = { action: 'update', resource: 'Article', id: 'open', data: { status: 'open' } } as const;
    await asAnn(
      rules,
      async (context) => {
        expect(await mayRead(context, OPEN)).toBe(expected);
        expect(context.entries).toEqual([]);
      },
      { request },
    );
  });
});

describe('the data of a request', () => {
  const rules = [allow('update', is('request.data.status', 'open'))];

  it.each<[string, object, string]>([
    ['the data of the request decides', {}, 'allow'],
    ['the data of one record replaces the data of the request', { data: { status: 'closed' } }, 'deny'],
    ['data that is not known yet leaves the condition residual', { dataIsOpen: true }, 'allow-where'],
  ])('decides by the data of a request: %s', async (_, subject, effect) => {
    const request = { action: 'update', resource: 'Article', data: { status: 'open' } } as const;
    await asAnn(rules, async (context) => expect((await decideOn(context, { record: OPEN, ...subject })).effect).toBe(effect), { request });
  });

  it('asRead removes the data and keeps the list of entries', async () => {
    await asAnn([], async (context) => {
      const reading = asRead({ ...context, request: { ...context.request, data: { status: 'open' } } });
      expect(reading.request.data).toBeUndefined();
      expect(reading.entries).toBe(context.entries);
    });
  });
});

describe('the fields of an update in its audit entry', () => {
  const rules = [allow('update', is('request.data.status', 'open')), allow('read')];

  it.each<[string, Partial<TestRequest>, object, unknown]>([
    ['names its fields beside the values that conditions read', {}, {}, { 'request.data.status': 'open', fields: ['status'] }],
    [
      'names the fields of one record of a file',
      {},
      { data: { authorId: 'ben', status: 'open' } },
      { 'request.data.status': 'open', fields: ['authorId', 'status'] },
    ],
    ['omits unknown names', { data: { unknown: 1, authorId: 'ben' } }, {}, { fields: ['authorId'] }],
    ['omits an empty list', { data: {} }, {}, undefined],
    ['omits data that are no object', { data: ['status'] }, {}, undefined],
  ])('the audit entry of an update %s', async (_, changed, subject, facts) => {
    const request = { action: 'update', resource: 'Article', id: 'open', data: { status: 'open' }, ...changed } as TestRequest;
    const decided = async (context: RequestContext) => {
      await decideOn(context, { record: OPEN, ...subject });
      expect(context.entries.at(-1)?.facts).toEqual(facts);
    };
    await asAnn(rules, decided, { request });
  });

  it('omits the fields of an action that is no update', async () => {
    const request = { action: 'update', resource: 'Article', id: 'open', data: { status: 'open' } } as const;
    const decided = async (context: RequestContext) => {
      await decideOn(context, { record: OPEN, action: 'read' });
      expect(context.entries.at(-1)?.facts).toBeUndefined();
    };
    await asAnn(rules, decided, { request });
  });

  it('omits the fields of a record of another resource', async () => {
    const request = { action: 'update', resource: 'Article', id: 'open', data: { status: 'open' } } as const;
    const decided = async (context: RequestContext) => {
      const resource = context.snapshot.definitions.get('User') as RequestContext['resource'];
      await decideOn(context, { resource, record: undefined, data: { name: 'Eve' } });
      expect(context.entries.at(-1)?.facts?.['fields']).toBeUndefined();
    };
    await asAnn(rules, decided, { request });
  });
});

describe('the condition that a decision allows', () => {
  it.each<[string, readonly TestRule[], unknown]>([
    ['is always true if the decision allows every record', [allow('update')], ALWAYS],
    ['is the residual condition otherwise', [allow('update', is('resource.status', 'open'))], { type: 'comparison' }],
  ])('the allowed condition %s', async (_, rules, expected) => {
    await asAnn(rules, async (context) => {
      expect(allowedWhere(await decideOn(context, { record: UNRESOLVED }))).toMatchObject(expected as object);
    });
  });

  it('a denial has no allowed condition', async () => {
    await asAnn([], async (context) => {
      const denial = await decideOn(context, { record: UNRESOLVED });
      expect(() => allowedWhere(denial)).toThrow();
    });
  });

  it('the scope of a list record resolves the condition by the values of that record', async () => {
    await asAnn([allow('read', is('resource.status', 'open'))], async (context) => {
      const where = allowedWhere(await decideOn(context, { record: UNRESOLVED, action: 'read' }));
      const { scopeFor } = await restrictionFor(context, { resource: context.resource, action: 'read', where });
      const reached = { referenced: new Map(), related: { find: none, item: none, ancestors: none } };
      expect([OPEN, CLOSED].map((record) => evaluate(where, scopeFor(record, reached)))).toEqual([true, false]);
    });
  });
});
