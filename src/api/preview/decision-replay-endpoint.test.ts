import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { handle } from '../../pipeline/handle.ts';
import { codeOf, type TestRequest, type TestUser, toApiRequest } from '../../pipeline/pipeline.fixture.ts';
import { openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

const isDraft = { field: 'resource.status', operator: 'eq', value: 'draft' };
const isSports = { field: 'resource.desk', operator: 'eq', value: 'sports' };

let admin: TestAdmin;
/** Allows users to read drafts, and to update and list every article. */
let policyId: string;
beforeAll(async () => {
  admin = await openAdmin({
    definitions: { Article: { fields: { status: { type: 'string' }, desk: { type: 'string' } } } },
    records: { Article: { a1: { status: 'draft', desk: 'sports' } } },
    rules: [
      { resource: 'Article', action: 'read', conditions: [isDraft], description: 'drafts' },
      { resource: 'Article', action: 'update' },
      { resource: 'Article', action: 'list' },
    ],
  });
  const { data } = await admin.bodyOf<{ data: readonly { id: string; name: string }[] }>('admin.policies.list');
  policyId = data.find(({ name }) => name.startsWith('rules of user'))?.id ?? '';
});
afterAll(() => admin.pipeline.dispose());

/** Sends a request about an article and returns the id of its audit entry. */
async function record(as: TestUser, request: Partial<TestRequest>): Promise<string> {
  const outcome = await handle(
    admin.pipeline.deps,
    toApiRequest({ action: 'read', resource: 'Article', id: 'a1', ...request }),
    admin.pipeline.originOf(as),
  );
  return outcome.decisionId ?? '';
}

const replay = async (id: string, body?: JsonObject): Promise<JsonObject> =>
  (await admin.bodyOf<{ data: JsonObject }>('admin.decisions.replay', { params: { id }, ...(body !== undefined && { body }) })).data;

const draftOf = (...conditions: readonly Json[]): JsonObject => ({
  policies: [{ id: policyId, rules: [{ resource: 'Article', action: '*', conditions, description: 'changed' }] }],
});

describe('admin.decisions.replay', () => {
  it('explains the entry, and the decision under the present policies', async () => {
    const id = await record('ann', {});
    const data = await replay(id);
    expect(data).toMatchObject({
      entry: { id, allowed: true, facts: { 'resource.status': 'draft' } },
      recorded: { trace: [{ rule: { description: 'drafts' }, fired: true }] },
      live: { effect: 'allow', policy: { id: policyId }, trace: [{ rule: { description: 'drafts' }, answer: 'true', fired: true }] },
    });
    expect(data).not.toHaveProperty('draft');
    expect(data).not.toHaveProperty('change');
  });

  it('returns the names of the users whose ids conditions compare, if they are asked for', async () => {
    const id = await record('ann', {});
    const body = { draft: draftOf({ field: 'user.id', operator: 'eq', value: 'ben' }) };
    const { names } = await admin.bodyOf<{ names?: unknown }>('admin.decisions.replay', { params: { id }, body, query: 'names=true' });
    expect(names).toEqual({ users: { ann: 'Ann', ben: 'Ben' } });
    expect(await admin.bodyOf('admin.decisions.replay', { params: { id }, body })).not.toHaveProperty('names');
  });

  it('explains the decision with a draft, on the values of the entry', async () => {
    const id = await record('ann', {});
    const published = { ...isDraft, value: 'published' };
    expect(await replay(id, { draft: draftOf(published) })).toMatchObject({
      live: { effect: 'allow' },
      draft: {
        ...{ effect: 'deny', reason: 'no rule matched' },
        trace: [{ rule: { description: 'changed' }, condition: { actual: 'draft', expected: 'published', answer: 'false' } }],
        wouldAllow: [{ rule: { description: 'changed' } }],
      },
      change: 'allowToDeny',
    });
  });

  it('names the paths of values that were not kept, or fills them', async () => {
    const id = await record('ann', {});
    const draft = draftOf(isSports);
    expect(await replay(id, { draft })).toMatchObject({
      draft: { effect: 'unknown', missing: ['resource.desk'], when: 'resource.desk eq "sports"', trace: [{ answer: 'open' }] },
      change: 'unknown',
    });
    const filled = await replay(id, { draft, fill: true });
    expect(filled).toMatchObject({ draft: { effect: 'allow', trace: [{ answer: 'true' }] }, change: 'same', filled: ['resource.desk'] });
    expect(filled['draft']).not.toHaveProperty('missing');
  });

  it('a list is replayed without a record', async () => {
    const id = await record('ann', { action: 'list' });
    const data = await replay(id, { draft: draftOf(isDraft) });
    expect(data).toMatchObject({
      live: { effect: 'allow' },
      draft: { effect: 'conditional', when: 'resource.status eq "draft"' },
      change: 'changed',
    });
  });

  it('the outcome of an update under the rules that decided it is the recorded one', async () => {
    const body = {
      ...{ name: 'Updates of drafts', type: 'CUSTOM' },
      rules: [{ resource: 'Article', action: 'update', effect: 'DENY', conditions: [{ not: isDraft }], priority: 900 }],
    };
    const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', { body });
    await admin.send('admin.assignments.role.create', { params: { policyId: data.id, role: 'user' }, body: {} });
    // The entry has the status after the change, and the rule also reads the status before it.
    const id = await record('ann', { action: 'update', data: { status: 'draft' } });
    expect(await replay(id, { draft: { policies: [{ id: data.id, priority: 5 }] } })).toMatchObject({
      live: { effect: 'allow' },
      change: 'same',
    });
    await admin.send('admin.policies.delete', { params: { id: data.id } });
    expect(await replay(id, { draft: {} })).toMatchObject({ recorded: { trace: [{}, {}] }, live: { effect: 'allow' }, change: 'same' });
  });

  it('fills the record before an update that was denied on its new values, and not the new values', async () => {
    const isPublished = { ...isDraft, value: 'published' };
    const rules = [{ resource: 'Article', action: 'update', effect: 'DENY', conditions: [isPublished], priority: 900 }];
    const body = { name: 'No publication', type: 'CUSTOM', rules };
    const { data } = await admin.bodyOf<{ data: { id: string } }>('admin.policies.create', { body });
    await admin.send('admin.assignments.role.create', { params: { policyId: data.id, role: 'user' }, body: {} });
    const id = await record('ann', { action: 'update', data: { status: 'published', desk: 'sports' } });
    const without = (...conditions: readonly Json[]) => ({ ...draftOf(...conditions), removePolicies: [data.id] });
    const isEither = { field: 'resource.status', operator: 'in', value: ['draft', 'published'] };
    expect(await replay(id, { draft: without(isEither) })).toMatchObject({
      entry: { facts: { 'resource.status': 'published', changedRecord: true } },
      draft: { effect: 'unknown', missing: ['resource.status'] },
    });
    const filled = { change: 'denyToAllow', filled: ['resource.status'] };
    expect(await replay(id, { draft: without(isEither), fill: true })).toMatchObject({ draft: { effect: 'allow' }, ...filled });
    expect(await replay(id, { draft: without(isSports), fill: true })).toMatchObject({
      draft: { effect: 'unknown', missing: ['resource.desk'], trace: [{ answer: 'open' }] },
    });
    await admin.send('admin.policies.delete', { params: { id: data.id } });
  });

  it('refuses an unknown entry, and an entry that is no decision on a request', async () => {
    expect(await codeOf(replay('gone'))).toBe('DECISION_UNKNOWN');
    await admin.send('admin.policies.list');
    const entry = (await admin.pipeline.entries()).at(-1);
    expect(entry?.kind).toBe('admin');
    expect(await codeOf(replay(entry?.id ?? ''))).toBe('DECISION_NOT_REPLAYED');
  });

  it('its entry names the replayed entry and the sizes of the draft', async () => {
    const id = await record('ann', {});
    await replay(id, { draft: draftOf(isSports) });
    expect((await admin.pipeline.entries()).at(-1)).toMatchObject({
      ...{ kind: 'admin', action: 'decisions.replay', recordId: id },
      facts: { question: { id, draft: { policies: 1, policyIds: [policyId] } } },
    });
  });

  it('refuses a draft with mistakes, and callers who are no admins', async () => {
    const id = await record('ann', {});
    expect(await codeOf(replay(id, { draft: { removePolicies: ['gone'] } }))).toBe('REQUEST_MALFORMED draft.removePolicies.0:reference');
    expect(await codeOf(admin.send('admin.decisions.replay', { as: 'ann', params: { id } }))).toBe('ACCESS_ADMIN');
  });
});
