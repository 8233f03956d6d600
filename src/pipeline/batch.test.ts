import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import { failure } from '../storage/storage.fixture.ts';
import { type Batch, runAll, runEach } from './batch.ts';
import {
  inCode,
  inShort,
  openPipeline,
  storedIn,
  type TestPipeline,
  type TestRequest,
  type TestRule,
  toApiRequest,
} from './pipeline.fixture.ts';
import type { Outcome } from './pipeline.ts';
import { findRecordLocks } from './record-locks.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: { fields: { slug: { type: 'string', unique: true }, note: { type: 'string' } } },
    },
    records: { Article: { a1: { slug: 'one' } } },
  });
});
afterAll(() => test.dispose());

type Sent = (Omit<TestRequest, 'resource'> & { readonly resource?: string; readonly optional?: boolean }) | Problem;

const create = (slug: string): Sent => ({ action: 'create', data: { slug } });
const update = (id: string, note: string): Sent => ({ action: 'update', id, data: { note } });
const updateMissing = (optional = false): Sent => ({
  action: 'updateIfExists',
  filter: [{ field: 'slug', operator: 'eq', value: 'none' }],
  data: { note: 'x' },
  optional,
});
const malformed = new Problem('REQUEST_MALFORMED', 'wrong', { errors: [{ path: 'id', code: 'required', detail: 'missing' }] });

/** Runs `work` with a batch in the unit of work of one context. */
function inBatch<T>(
  sent: readonly Sent[],
  work: (batch: Batch, context: RequestContext) => Promise<T>,
  rules: readonly TestRule[] = [{}],
): Promise<T> {
  return test.inContext({ as: 'ann', request: { action: 'list', resource: 'Article' }, rules }, (context) => {
    const items = sent.map((item) => {
      if (item instanceof Problem) return { request: item, optional: false };
      const { optional = false, ...request } = item;
      return { request: toApiRequest({ resource: 'Article', ...request }), optional };
    });
    const caller = {
      origin: context.origin,
      key: 'ann',
      identification: { query: () => undefined, toPrincipal: () => context.principal },
      verifyToken: async () => undefined,
    };
    const createContext = async (request: RequestContext['request']) => createRequestContext({ ...context, caller }, request);
    return work({ tx: context.tx, items, locks: findRecordLocks(items), createContext }, context);
  });
}

/** Returns the status of each result and the problem of each failure in short. */
const toEnds = (outcomes: readonly Outcome[]): readonly unknown[] =>
  outcomes.map((outcome) => ('problem' in outcome ? inCode(outcome.problem) : outcome.result.status));
const storedOf = async (context: RequestContext): Promise<readonly string[]> =>
  (await storedIn(context.tx, ['Article'])).map((row) => row.replace(/[0-9a-f]{8}-[0-9a-f-]+/, 'NEW'));

interface Case {
  readonly title: string;
  readonly sent: readonly Sent[];
  readonly rules?: readonly TestRule[];
  /** The ends of the requests; for an atomic batch that fails, the problem in short. */
  readonly ends: readonly unknown[] | string;
  readonly stored: readonly string[];
  readonly entries: readonly string[];
}

const UNCHANGED = ['Article a1 slug=one'];
const each: readonly Case[] = [
  {
    title: 'the requests run in order, and each sees the changes of the earlier ones',
    sent: [update('a1', 'x'), create('two'), create('two')],
    ends: [200, 201, 'RECORD_EXISTS slug:taken'],
    stored: ['Article NEW createdBy=ann slug=two', 'Article a1 version=2 slug=one note=x'],
    entries: ['allow update Article a1', 'allow create Article', 'allow create Article RECORD_EXISTS'],
  },
  {
    title: 'a refused request does not roll back the others',
    sent: [{ action: 'update', id: 'unknown', data: {} }, malformed, { action: 'read', resource: 'Nothing', id: 'x' }, update('a1', 'x')],
    ends: ['RECORD_UNKNOWN', 'REQUEST_MALFORMED id:required', 'RESOURCE_UNKNOWN', 200],
    stored: ['Article a1 version=2 slug=one note=x'],
    entries: ['allow update Article unknown RECORD_UNKNOWN', 'allow update Article a1'],
  },
  {
    title: 'a denied request has its entry',
    sent: [update('a1', 'x'), { action: 'delete', id: 'a1' }],
    rules: [{ resource: 'Article', action: 'update' }],
    ends: [200, 'ACCESS_DENIED'],
    stored: ['Article a1 version=2 slug=one note=x'],
    entries: ['allow update Article a1', 'deny delete Article a1'],
  },
  {
    title: 'a request may use the id of an earlier result',
    sent: [create('two'), update('$0.id', 'x')],
    ends: [201, 200],
    stored: ['Article NEW version=2 createdBy=ann slug=two note=x', ...UNCHANGED],
    entries: ['allow create Article', 'allow update Article NEW'],
  },
  {
    title: 'a request that uses the id of a request that failed is refused before a decision',
    sent: [create('one'), update('$0.id', 'x')],
    ends: ['RECORD_EXISTS slug:taken', 'BATCH_DEPENDENCY'],
    stored: UNCHANGED,
    entries: ['allow create Article RECORD_EXISTS'],
  },
  {
    title: 'a request that uses the id of a result without a record is refused',
    sent: [updateMissing(), update('$0.id', 'x')],
    ends: [200, 'BATCH_DEPENDENCY'],
    stored: UNCHANGED,
    entries: ['allow update Article', 'allow read Article'],
  },
];

const all: readonly Case[] = [
  {
    title: 'all requests are stored if none fails',
    sent: [create('two'), update('$0.id', 'x')],
    ends: [201, 200],
    stored: ['Article NEW version=2 createdBy=ann slug=two note=x', ...UNCHANGED],
    entries: ['allow create Article', 'allow update Article NEW'],
  },
  {
    title: 'a failed request rolls back those before it, which keep their entries, and the requests after it do not run',
    sent: [update('a1', 'x'), create('one'), create('two')],
    ends: 'RECORD_EXISTS requests.1.slug:taken',
    stored: UNCHANGED,
    entries: ['allow update Article a1 BATCH_ABORTED', 'allow create Article RECORD_EXISTS'],
  },
  {
    title: 'a denied request rolls back all requests',
    sent: [update('a1', 'x'), { action: 'delete', id: 'a1' }],
    rules: [{ resource: 'Article', action: 'update' }],
    ends: 'ACCESS_DENIED requests.1:ACCESS_DENIED',
    stored: UNCHANGED,
    entries: ['allow update Article a1 BATCH_ABORTED', 'deny delete Article a1'],
  },
  {
    title: 'a malformed request rolls back the requests before it',
    sent: [update('a1', 'x'), malformed],
    ends: 'REQUEST_MALFORMED requests.1.id:required',
    stored: UNCHANGED,
    entries: ['allow update Article a1 BATCH_ABORTED'],
  },
  {
    title: 'an updateIfExists that matches no record fails the batch',
    sent: [update('a1', 'x'), updateMissing()],
    ends: 'RECORD_UNMATCHED requests.1:RECORD_UNMATCHED',
    stored: UNCHANGED,
    entries: ['allow update Article a1 BATCH_ABORTED', 'allow update Article RECORD_UNMATCHED', 'allow read Article RECORD_UNMATCHED'],
  },
  {
    title: 'an optional updateIfExists may match no record',
    sent: [update('a1', 'x'), updateMissing(true)],
    ends: [200, 200],
    stored: ['Article a1 version=2 slug=one note=x'],
    entries: ['allow update Article a1', 'allow update Article', 'allow read Article'],
  },
];

async function check(run: typeof runAll, { sent, rules, ends, stored, entries }: Case): Promise<void> {
  await inBatch(
    sent,
    async (batch, context) => {
      const done = await run(batch);
      expect(done instanceof Problem ? inCode(done) : toEnds(done)).toEqual(ends);
      expect(await storedOf(context)).toEqual(stored);
      expect(inShort(context.appended).map((entry) => entry.replace(/[0-9a-f]{8}-[0-9a-f-]+/, 'NEW'))).toEqual(entries);
    },
    rules,
  );
}

describe('a batch', () => {
  it.each(each)('runs a batch: $title', (item) => check(runEach, item));
  it.each(all)('runs an atomic batch: $title', (item) => check(runAll, item));

  it('a failed atomic batch names the entry of the request that failed', async () => {
    await inBatch([update('a1', 'x'), create('one')], async (batch, context) => {
      const problem = await runAll(batch);
      expect(problem instanceof Problem && problem.extras.decisionId).toBe(context.appended[1]?.id);
    });
  });

  it.each([
    ['an atomic batch', runAll],
    ['a batch', runEach],
  ])('a failure of the database ends %s instead of a request', async (_, run) => {
    const error = new Problem('STORAGE_BUSY', 'busy');
    await inBatch([update('a1', 'x')], async (batch) => {
      expect(await failure(run({ ...batch, createContext: () => Promise.reject(error) }))).toBe(error);
    });
  });

  it.each([
    ['an atomic batch', runAll],
    ['a batch', runEach],
  ])('a defect while a context is created ends %s', async (_, run) => {
    const error = new Error('defect');
    await inBatch([update('a1', 'x')], async (batch) => {
      expect(await failure(run({ ...batch, createContext: () => Promise.reject(error) }))).toBe(error);
    });
  });
});
