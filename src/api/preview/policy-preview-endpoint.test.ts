import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendAuditEntries, createEntryId } from '../../audit/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { handle } from '../../pipeline/handle.ts';
import { codeOf, type TestRequest, type TestUser, toApiRequest } from '../../pipeline/pipeline.fixture.ts';
import { sql } from '../../sql.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

const isDraft = { field: 'resource.status', operator: 'eq', value: 'draft' };
const isSports = { field: 'resource.desk', operator: 'eq', value: 'sports' };
const isNamed = { field: 'user.name', operator: 'eq', value: 'Ann' };

let admin: TestAdmin;
/** Allows users to read every article, to update and list drafts. */
let policyId: string;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: { Article: { fields: { status: { type: 'string' }, desk: { type: 'string' } } } },
    records: { Article: { a1: { status: 'draft', desk: 'sports' }, a2: { status: 'draft' }, a3: { status: 'published', desk: 'sports' } } },
    rules: [
      { resource: 'Article', action: 'read' },
      { resource: 'Article', action: 'update', conditions: [isDraft] },
      { resource: 'Article', action: 'list', conditions: [isDraft] },
    ],
  });
  const { data } = await admin.bodyOf<{ data: readonly { id: string; name: string }[] }>('admin.policies.list');
  policyId = data.find(({ name }) => name.startsWith('rules of user'))?.id ?? '';
});
afterAll(() => admin.pipeline.dispose());
beforeEach(() => admin.deps.database.transaction((tx) => tx.run(sql`DELETE FROM "_Decision"`)));

/** Sends a request about articles, which leaves an audit entry. */
const record = (as: TestUser, request: Partial<TestRequest>) =>
  handle(admin.pipeline.deps, toApiRequest({ action: 'read', resource: 'Article', ...request }), admin.pipeline.originOf(as));

/** A draft in which the policy of users has these rules on articles. */
const draftOf = (...rules: readonly JsonObject[]): JsonObject => ({
  policies: [{ id: policyId, rules: rules.map((rule) => ({ resource: 'Article', action: '*', ...rule })) }],
});

interface Preview {
  readonly data: Readonly<Record<string, number>> & { readonly samples: readonly JsonObject[] };
  readonly nextCursor?: string;
}
const preview = (draft: Json, members: JsonObject = {}): Promise<Preview> =>
  admin.bodyOf('admin.policies.preview', { body: { draft, ...members } });

/** Returns the counts of decisions of a preview that are not 0. */
async function countsOf(draft: Json, members: JsonObject = {}): Promise<object> {
  const { samples: _, entries: __, ...counts } = (await preview(draft, members)).data;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

describe('admin.policies.preview', () => {
  it('counts decisions that stay the same, and those that change', async () => {
    await record('ann', { id: 'a1' });
    await record('ben', { action: 'delete', id: 'a1' });
    await record('anon', { id: 'a1' });
    expect(await countsOf({})).toEqual({ examined: 3, same: 3 });
    expect(await countsOf(draftOf({ action: 'delete' }))).toEqual({ examined: 3, same: 1, allowToDeny: 1, denyToAllow: 1 });
    expect(await countsOf({ removePolicies: [policyId] })).toEqual({ examined: 3, same: 2, allowToDeny: 1 });
  });

  it('samples have an entry, the recorded decision and both decisions', async () => {
    await record('ann', { id: 'a1' });
    await record('ben', { id: 'a2' });
    const { samples } = (await preview(draftOf({ action: 'read', effect: 'DENY', description: 'closed' }))).data;
    expect(samples).toMatchObject([
      {
        ...{ change: 'allowToDeny', role: 'user', resource: 'Article', action: 'read', count: 2 },
        entry: { userId: 'ben', recordId: 'a2' },
        recorded: { allowed: true, reason: expect.stringContaining('allowed by rule') },
        live: { effect: 'allow', policy: { id: policyId } },
        draft: { effect: 'deny', reason: expect.stringContaining('denied by rule "closed"'), policy: { id: policyId } },
      },
    ]);
  });

  it('decides with the assignments of each user, stored and in the draft', async () => {
    const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', {
      body: { name: 'Deleters', type: 'ROLE_BASED', rules: [{ resource: 'Article', action: 'delete' }] },
    });
    await admin.send('admin.assignments.user.create', { params: { policyId: data.id, userId: 'ben' }, body: {} });
    for (const user of ['ann', 'ben'] as const) await record(user, { action: 'delete', id: 'gone' });
    const [toAnn, toBen] = ['ann', 'ben'].map((userId) => ({ userId, policyId: data.id }));
    expect(await countsOf({ removeAssignments: [toBen ?? {}] })).toEqual({ examined: 2, same: 1, allowToDeny: 1 });
    expect(await countsOf({ assignments: [toAnn ?? {}] })).toEqual({ examined: 2, same: 1, denyToAllow: 1 });
    expect(await countsOf({ removePolicies: [data.id] })).toEqual({ examined: 2, same: 1, allowToDeny: 1 });
    await admin.send('admin.policies.delete', { params: { id: data.id } });
  });

  it('a list with another condition has changed; a list with the same condition in another form has not', async () => {
    await record('ann', { action: 'list' });
    expect(await countsOf(draftOf({ conditions: [isDraft, isSports] }))).toEqual({ examined: 1, changed: 1 });
    expect(await countsOf(draftOf({ conditions: [isDraft] }))).toEqual({ examined: 1, same: 1 });
    expect(await countsOf(draftOf({ conditions: [{ anyOf: [isDraft, { allOf: [isDraft] }] }] }))).toEqual({ examined: 1, same: 1 });
    expect(await countsOf(draftOf({}))).toEqual({ examined: 1, changed: 1 });
    expect(await countsOf(draftOf())).toEqual({ examined: 1, allowToDeny: 1 });
    const [sample] = (await preview(draftOf({ conditions: [isSports] }))).data.samples;
    expect(sample).toMatchObject({ live: { when: 'resource.status eq "draft"' }, draft: { when: 'resource.desk eq "sports"' } });
  });

  it('a value that no rule read is unknown, unless the decision does not depend on it', async () => {
    await record('ann', { id: 'a1' });
    const ofSports = await preview(draftOf({ conditions: [isSports] }));
    expect(ofSports.data).toMatchObject({ examined: 1, unknown: 1, samples: [{ change: 'unknown', missing: ['resource.desk'] }] });
    expect(
      await countsOf(
        draftOf({ conditions: [{ anyOf: [isSports, { not: isSports }, { field: 'resource.desk', operator: 'exists', value: false }] }] }),
      ),
    ).toEqual({ examined: 1, unknown: 1 });
    expect(await countsOf(draftOf({ conditions: [isSports] }, { priority: 50 }))).toEqual({ examined: 1, same: 1 });
    expect(await countsOf(draftOf({ conditions: [isSports] }, { effect: 'DENY', priority: 900 }))).toEqual({ examined: 1, allowToDeny: 1 });
  });

  it('a value that a rule read and that the entry does not have was missing', async () => {
    await admin.pipeline.grant({ resource: 'Article', action: 'delete', conditions: [isSports] });
    const { data } = await admin.bodyOf<{ data: readonly { id: string; name: string }[] }>('admin.policies.list');
    const granted = data.at(-1)?.id ?? '';
    await record('ann', { action: 'delete', id: 'a2' });
    const exists = (value: boolean) => draftOf({ action: 'delete', conditions: [{ field: 'resource.desk', operator: 'exists', value }] });
    expect(await countsOf(exists(false))).toEqual({ examined: 1, denyToAllow: 1 });
    expect(await countsOf(exists(true))).toEqual({ examined: 1, same: 1 });
    // The policy that read the path is found in the history.
    await admin.send('admin.policies.delete', { params: { id: granted } });
    expect(await countsOf(exists(false))).toEqual({ examined: 1, denyToAllow: 1 });
  });

  it('knows what the past policies of each user read, and those of their role', async () => {
    const readsDesk = { name: 'Desks', type: 'CUSTOM', rules: [{ resource: 'Article', action: 'delete', conditions: [isSports] }] };
    const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', { body: readsDesk });
    await admin.send('admin.assignments.user.create', { params: { policyId: data.id, userId: 'ben' }, body: {} });
    for (const user of ['ann', 'ben', 'ann'] as const) await record(user, { action: 'delete', id: 'a2' });
    await admin.send('admin.policies.delete', { params: { id: data.id } });
    const without = draftOf({ action: 'delete', conditions: [{ field: 'resource.desk', operator: 'exists', value: false }] });
    expect(await countsOf(without)).toEqual({ examined: 3, denyToAllow: 1, unknown: 2 });
  });

  it('fills values that were not kept with those of today, and counts and labels them', async () => {
    await record('ann', { id: 'a1' });
    await record('ben', { id: 'a2' });
    const draft = draftOf({ conditions: [{ anyOf: [isSports, isNamed] }] });
    expect(await countsOf(draft)).toEqual({ examined: 2, unknown: 2 });
    const { data } = await preview(draft, { fill: true });
    expect(data).toMatchObject({ examined: 2, same: 1, allowToDeny: 1, unknown: 0, filled: 2 });
    expect(data.samples).toMatchObject([{ change: 'allowToDeny', entry: { userId: 'ben' }, filled: ['resource.desk', 'user.name'] }]);
  });

  it('an update is replayed on both states of the record', async () => {
    await record('ann', { action: 'update', id: 'a1', data: { desk: 'sports' } });
    const onAny = { action: 'update', conditions: [{ field: 'resource.status', operator: 'in', value: ['draft', 'published'] }] };
    expect(await countsOf(draftOf(onAny))).toEqual({ examined: 1, same: 1 });
    await admin.deps.database.transaction((tx) => tx.run(sql`DELETE FROM "_Decision"`));
    // The value before the change is not in the entry, which has the changed record.
    await record('ann', { action: 'update', id: 'a1', data: { status: 'draft' } });
    const { data } = await preview(draftOf(onAny));
    expect(data).toMatchObject({ unknown: 1, samples: [{ missing: ['resource.status'] }] });
    expect(await countsOf(draftOf({ ...onAny, effect: 'DENY' }))).toEqual({ examined: 1, allowToDeny: 1 });
    expect(await countsOf(draftOf({ action: 'update', conditions: [isDraft], description: 'the same condition' }))).toEqual({
      ...{ examined: 1, same: 1 },
    });
  });

  it('a rule that keeps its id decides by its content in the draft', async () => {
    await record('ann', { id: 'a1' });
    const { data } = await admin.bodyOf<{ data: { rules: readonly JsonObject[] } }>('admin.policies.read', { params: { id: policyId } });
    const withConditions = (...conditions: readonly JsonObject[]): JsonObject => ({
      policies: [{ id: policyId, rules: data.rules.map((rule) => (rule['action'] === 'read' ? { ...rule, conditions } : rule)) }],
    });
    expect(await countsOf(withConditions())).toEqual({ examined: 1, same: 1 });
    const isEditor = { field: 'user.role', operator: 'eq', value: 'editor' };
    expect(await countsOf(withConditions(isEditor))).toEqual({ examined: 1, allowToDeny: 1 });
  });

  it('repeated denials count as often as they occurred, and refused tokens do not count', async () => {
    const at = new Date().toISOString();
    const facts = { first: createEntryId(), since: at, last: at, count: 7 };
    const denial = { id: createEntryId(), at, kind: 'repeat', role: 'anon', resource: 'Article', action: 'read', allowed: false } as const;
    const entry = { ...denial, reason: 'no policies found for role anon', epoch: 1, requestId: '', ip: '192.0.2.0/24', facts };
    const ofTokens = { ...entry, id: createEntryId(), resource: 'Auth', action: 'token' };
    await admin.deps.database.transaction(async (tx) => appendAuditEntries(tx, [entry, ofTokens]));
    const toAnon = { assignments: [{ role: 'anon', policyId }] };
    expect(await countsOf({})).toEqual({ examined: 7, same: 7 });
    expect(await countsOf(toAnon)).toEqual({ examined: 7, denyToAllow: 7 });
    expect(await countsOf({ ...toAnon, ...draftOf({ conditions: [isDraft] }) })).toEqual({ examined: 7, unknown: 7 });
    const office = { field: 'environment.hour', operator: 'gte', value: 9 };
    expect(await countsOf({ ...toAnon, ...draftOf({ conditions: [office] }) }, { fill: true })).toEqual({ examined: 7, unknown: 7 });
  });

  it('follows pages, newest first, and filters entries as the search of the audit log', async () => {
    for (const id of ['a1', 'a2', 'a3']) await record('ann', { id });
    await record('ben', { action: 'delete', id: 'a1' });
    const draft = draftOf();
    const first = await preview(draft, { limit: 3 });
    const second = await preview(draft, { limit: 3, cursor: first.nextCursor ?? '' });
    expect([first.data, second.data]).toMatchObject([
      { examined: 3, same: 1, allowToDeny: 2 },
      { examined: 1, allowToDeny: 1 },
    ]);
    expect(second.nextCursor).toBeUndefined();
    expect(await countsOf(draft, { filter: { userId: 'ben' } })).toEqual({ examined: 1, same: 1 });
    expect(await countsOf(draft, { filter: { action: 'read', role: 'user', resource: 'Article', allowed: true } })).toEqual({
      ...{ examined: 3, allowToDeny: 3 },
    });
    expect(await countsOf(draft, { filter: { to: '2026-01-01' } })).toEqual({});
    expect(await countsOf(draft, { filter: { from: '2026-01-01T00:00:00+01:00', to: '2999-01-01' } })).toMatchObject({ examined: 4 });
  });

  it('returns at most 20 samples of a change', async () => {
    const at = new Date().toISOString();
    const entryOf = (role: string) => ({ id: createEntryId(), at, kind: 'access' as const, role, userId: 'ann', resource: 'Article' });
    const rest = { action: 'read', recordId: 'a1', allowed: false, reason: '', epoch: 1, requestId: '', ip: '' };
    const entries = Array.from({ length: 30 }, (_, index) => ({ ...entryOf(`role ${index}`), ...rest }));
    await admin.deps.database.transaction(async (tx) => appendAuditEntries(tx, entries));
    const { samples, ...counts } = (await preview({ assignments: [{ userId: 'ann', policyId }] })).data;
    expect([counts['denyToAllow'], samples.length]).toEqual([30, 20]);
  });

  it('an entry whose caller was cut off is unknown', async () => {
    const cut = { id: createEntryId(), at: new Date().toISOString(), kind: 'access' as const, role: 'user', userId: 'x'.repeat(300) };
    const entry = {
      ...cut,
      resource: 'Article',
      action: 'read',
      recordId: 'a1',
      allowed: true,
      reason: '',
      epoch: 1,
      requestId: '',
      ip: '',
    };
    await admin.deps.database.transaction(async (tx) => appendAuditEntries(tx, [entry]));
    expect(await countsOf({})).toEqual({ examined: 1, unknown: 1 });
  });

  it('needs a draft, and reports every mistake in it', async () => {
    expect(await codeOf(admin.send('admin.policies.preview', { body: {} }))).toBe('REQUEST_MALFORMED draft:required');
    const draft = { policies: [{ id: policyId, priority: 'high' }], removePolicies: ['gone'] };
    expect(await codeOf(preview(draft))).toBe('REQUEST_MALFORMED draft.policies.0.priority:type draft.removePolicies.0:reference');
    expect(await codeOf(preview({}, { filter: { from: 'noon', kind: 'admin' }, limit: 5001, cursor: '' }))).toBe(
      'REQUEST_MALFORMED filter.kind:unknown filter.from:format limit:range cursor:tooShort',
    );
    expect(await codeOf(preview({}, { cursor: 'x' }))).toBe('REQUEST_CURSOR');
    expect(await codeOf(admin.send('admin.policies.preview', { as: 'ann', body: { draft: {} } }))).toBe('ACCESS_ADMIN');
  });

  it('its entry names the filter and the sizes of the draft', async () => {
    await preview(draftOf({}), { filter: { userId: 'ann' }, fill: true });
    expect((await admin.pipeline.entries()).at(-1)).toMatchObject({
      ...{ kind: 'admin', action: 'policies.preview' },
      facts: { question: { userId: 'ann', fill: true, draft: { policies: 1, policyIds: [policyId] } } },
    });
  });
});
