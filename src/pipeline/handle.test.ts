import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../audit/index.ts';
import type { BatchRequest } from '../request/index.ts';
import { handle, handleBatch } from './handle.ts';
import {
  codeOf,
  inCode,
  inShort,
  openPipeline,
  type TestPipeline,
  type TestRequest,
  type TestUser,
  toApiRequest,
} from './pipeline.fixture.ts';
import type { Outcome } from './pipeline.ts';

let test: TestPipeline;
let recorded: AuditEntry[];
/** Passwords that were hashed. */
let hashed: string[];

beforeEach(async () => {
  [recorded, hashed] = [[], []];
  const opened = await openPipeline({
    definitions: { Article: { fields: { title: { type: 'string' } } } },
    records: {
      Article: { a1: { title: 'one' } },
      User: { eve: { email: 'eve@example.com', role: 'admin', isActive: true, password: 'a hash' } },
    },
    rules: [
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'update' },
    ],
    deps: { observer: { decided: () => undefined, recorded: (entries) => recorded.push(...entries) } },
  });
  const { identity } = opened.deps;
  const hashPassword = (plain: string): Promise<string> => {
    hashed.push(plain);
    return identity.hashPassword(plain);
  };
  test = { ...opened, deps: { ...opened.deps, identity: { ...identity, hashPassword } } };
  return () => opened.dispose();
});

const send = (as: TestUser, request: TestRequest): Promise<Outcome> => handle(test.deps, toApiRequest(request), test.originOf(as));
const sendBatch = (as: TestUser, atomic: boolean, requests: readonly TestRequest[]): Promise<readonly Outcome[]> => {
  const batch: BatchRequest = { atomic, items: requests.map((request) => ({ request: toApiRequest(request), optional: false })) };
  return handleBatch(test.deps, batch, test.originOf(as));
};
const toEnd = (outcome: Outcome): unknown => ('problem' in outcome ? inCode(outcome.problem) : outcome.result.status);
const titles = async (): Promise<unknown> => (await test.rows('Article')).map(({ title }) => title);

const article = (action: TestRequest['action'], more: Partial<TestRequest> = {}): TestRequest => ({
  action,
  resource: 'Article',
  id: 'a1',
  ...more,
});
const retitle = (title: string | number): TestRequest => article('update', { data: { title } });
const password = 'correct horse battery';
const newUser: TestRequest = { action: 'create', resource: 'User', data: { email: 'fay@example.com', password } };

describe('a request', () => {
  it.each<[string, TestUser, TestRequest, unknown, readonly string[], readonly string[]]>([
    ['a read commits its entry', 'ann', article('read'), 200, ['one'], ['allow read Article a1']],
    ['an update commits the record and its entry', 'ann', retitle('two'), 200, ['two'], ['allow update Article a1']],
    ['a denial changes nothing and commits its entry', 'ann', article('delete'), 'ACCESS_DENIED', ['one'], ['deny delete Article a1']],
    [
      'a refusal after the decision changes nothing and commits the entry with its code',
      'ann',
      retitle(5),
      'VALUE_INVALID title:type',
      ['one'],
      ['allow update Article a1 VALUE_INVALID'],
    ],
    ['a request without a token is decided as anon', 'anon', article('read'), 'ACCESS_DENIED', ['one'], ['deny read Article a1']],
  ])('handles a request: %s', async (_, as, request, end, stored, entries) => {
    const outcome = await send(as, request);
    expect(toEnd(outcome)).toBe(end);
    expect(await titles()).toEqual(stored);
    const logged = await test.entries();
    expect(inShort(logged)).toEqual(entries);
    expect(outcome.decisionId).toBe(logged[0]?.id);
    expect(recorded.map(({ id }) => id)).toEqual(logged.map(({ id }) => id));
  });

  it('a request for an unknown resource is refused without an entry', async () => {
    expect(await codeOf(send('ann', { action: 'read', resource: 'Nothing', id: 'x' }))).toBe('RESOURCE_UNKNOWN');
    expect(await test.entries()).toEqual([]);
  });

  it('a request with an invalid token is refused without an entry', async () => {
    const origin = { ...test.originOf('ann'), token: 'x' };
    expect(await codeOf(handle(test.deps, toApiRequest(article('read')), origin))).toBe('IDENTITY_TOKEN');
    expect(await test.entries()).toEqual([]);
  });
});

describe('a password', () => {
  const hashOf = async (): Promise<unknown> => (await test.rows('User')).find(({ email }) => email === 'fay@example.com')?.['password'];

  it('a new password is hashed once, and its request has one entry', async () => {
    expect(toEnd(await send('ada', newUser))).toBe(201);
    expect(await hashOf()).toMatch(/^\$argon2id\$/);
    expect(hashed).toEqual([password]);
    expect(inShort(await test.entries())).toEqual(['allow create User']);
    expect(recorded).toHaveLength(1);
  });

  it('a password is not hashed for a caller who is denied', async () => {
    expect(toEnd(await send('ann', newUser))).toBe('ACCESS_DENIED');
    expect(hashed).toEqual([]);
  });

  it('a password in a batch is hashed before the batch commits', async () => {
    expect((await sendBatch('ada', false, [newUser, retitle('two')])).map(toEnd)).toEqual([201, 200]);
    expect(await hashOf()).toMatch(/^\$argon2id\$/);
    expect(inShort(await test.entries())).toEqual(['allow create User', 'allow update Article a1']);
  });

  it('a password in an atomic batch that fails is not hashed', async () => {
    expect(await codeOf(sendBatch('ada', true, [newUser, retitle(5)]))).toBe('VALUE_INVALID requests.1.title:type');
    expect(hashed).toEqual([]);
    expect(inShort(await test.entries())).toEqual(['allow create User BATCH_ABORTED', 'allow update Article a1 VALUE_INVALID']);
  });
});

describe('a batch in its unit of work', () => {
  it('a batch commits the requests that succeed, and the entries of all', async () => {
    expect((await sendBatch('ann', false, [retitle('two'), article('delete')])).map(toEnd)).toEqual([200, 'ACCESS_DENIED']);
    expect(await titles()).toEqual(['two']);
    expect(inShort(await test.entries())).toEqual(['allow update Article a1', 'deny delete Article a1']);
  });

  it('an atomic batch that fails is a problem, and its entries are committed', async () => {
    expect(await codeOf(sendBatch('ann', true, [retitle('two'), article('delete')]))).toBe('ACCESS_DENIED requests.1:ACCESS_DENIED');
    expect(await titles()).toEqual(['one']);
    expect(inShort(await test.entries())).toEqual(['allow update Article a1 BATCH_ABORTED', 'deny delete Article a1']);
  });

  it('the caller of each request is identified again, because an earlier request may have changed the user', async () => {
    const deactivate: TestRequest = { action: 'update', resource: 'User', id: 'ada', data: { isActive: false } };
    expect((await sendBatch('ada', false, [deactivate, retitle('two')])).map(toEnd)).toEqual([200, 'IDENTITY_TOKEN']);
    expect(await titles()).toEqual(['one']);
    expect(inShort(await test.entries())).toEqual(['allow update User ada', 'deny token Auth IDENTITY_TOKEN']);
  });
});
