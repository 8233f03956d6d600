import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

let admin: TestAdmin;
let strict: TestAdmin;
beforeAll(async () => {
  const definitions = { Article: { fields: { title: { type: 'string' } } } };
  admin = await openAdmin({ definitions });
  strict = await openAdmin({ definitions }, { ifMatch: 'required' });
});
afterAll(async () => {
  for (const each of [admin, strict]) await each.pipeline.dispose();
});

interface Stored {
  readonly kind: string;
  readonly userId?: string;
  readonly role?: string;
  readonly version: number;
}

interface Batch {
  readonly data: readonly {
    readonly result: string;
    readonly assignment: Stored;
    readonly warnings?: readonly { readonly code: string }[];
  }[];
  readonly message: string;
  readonly dryRun?: true;
}

const send = (changes: readonly Json[], more: Readonly<Record<string, Json>> = {}, to = admin) =>
  to.bodyOf<Batch>('admin.assignments.batch', { body: { changes, ...more } });

async function listed(policyId: string, to = admin): Promise<readonly Stored[]> {
  return (await to.bodyOf<{ data: readonly Stored[] }>('admin.assignments.ofPolicy', { params: { id: policyId } })).data;
}

/** Returns the code of the problem of a batch, and its mistakes by path. */
async function mistakesOf(
  changes: readonly Json[],
  to = admin,
): Promise<readonly [code: string, mistakes: Readonly<Record<string, string>>]> {
  const error: unknown = await send(changes, {}, to).catch((thrown: unknown) => thrown);
  if (!(error instanceof Problem)) throw new Error('expected a problem');
  return [error.code, Object.fromEntries((error.extras.errors ?? []).map(({ path, code }) => [path, code]))];
}

describe('a batch of assignment changes', () => {
  it('creates, renews, updates and revokes assignments in one revision, and returns each result', async () => {
    const policyId = await createdPolicy(admin, 'all operations');
    await send([
      { op: 'assign', policyId, userId: 'ann', expiresAt: '2031-01-01T00:00:00Z' },
      { op: 'assign', policyId, userId: 'ben', isActive: false, context: { ticket: 1 } },
      { op: 'assign', policyId, role: 'editor' },
    ]);
    const before = await listed(policyId);
    const versionOf = (userId: string) => before.find((each) => each.userId === userId)?.version ?? 0;
    const { data, message } = await send([
      { op: 'revoke', policyId, userId: 'ann', version: versionOf('ann') },
      { op: 'assign', policyId, userId: 'ben', version: versionOf('ben') },
      { op: 'update', policyId, role: 'editor', priority: 7 },
      { op: 'assign', policyId, role: 'viewer', priority: -3 },
    ]);
    const version = versionOf('ann') + 1;
    expect(data).toMatchObject([
      { result: 'revoked', assignment: { userId: 'ann', expiresAt: '2031-01-01T00:00:00.000Z' } },
      { result: 'renewed', assignment: { userId: 'ben', isActive: true, context: {}, version } },
      { result: 'updated', assignment: { role: 'editor', priority: 7, version } },
      { result: 'created', assignment: { role: 'viewer', priority: -3, version } },
    ]);
    expect(message).toBe('1 revoked, 1 renewed, 1 updated, 1 created');
    const stored = await listed(policyId);
    expect(stored).toHaveLength(3);
    expect(stored).toEqual(expect.arrayContaining(data.slice(1).map(({ assignment }) => assignment)));
  });

  it('stores nothing in a dry run, and returns the same results', async () => {
    const policyId = await createdPolicy(admin, 'a dry run');
    const changes = [{ op: 'assign', policyId, role: 'editor' }];
    const dry = await send(changes, { dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, message: '1 created; a dry run, nothing was stored', data: [{ result: 'created' }] });
    expect(await listed(policyId)).toEqual([]);
    const others = { id: expect.any(String), assignedAt: expect.any(String) };
    expect((await send(changes)).data).toMatchObject([{ assignment: { ...dry.data[0]?.assignment, ...others } }]);
  });

  it('returns the findings about each assignment', async () => {
    const policyId = await createdPolicy(admin, 'expired at once');
    const { data } = await send([{ op: 'assign', policyId, userId: 'ann', expiresAt: '2020-01-01T00:00:00Z' }]);
    expect(data[0]?.warnings).toMatchObject([{ code: 'expired' }]);
  });

  it('refuses every change with a mistake in its form, with its path', async () => {
    const policyId = 'any';
    const changes = [
      { op: 'assign', policyId },
      { op: 'assign', policyId, userId: 'ann', role: 'editor' },
      { op: 'assign', policyId, userId: 'ann', priority: 1 },
      { op: 'update', policyId, role: 'editor', expiresAt: null, context: {} },
      { op: 'revoke', policyId, userId: 'ann', isActive: false },
      { op: 'assign', policyId, userId: 'ben', context: { notes: 'x'.repeat(10_001) } },
    ];
    expect(await mistakesOf(changes)).toEqual([
      'VALUE_INVALID',
      {
        'changes.0.userId': 'required',
        'changes.1.role': 'conflict',
        'changes.2.priority': 'unknown',
        'changes.3.expiresAt': 'unknown',
        'changes.3.context': 'unknown',
        'changes.4.isActive': 'unknown',
        'changes.5.context': 'tooLong',
      },
    ]);
    expect(await codeOf(send([{ op: 'give', policyId }]))).toMatch(/^VALUE_INVALID changes\.0\.op:enum/);
    expect(await codeOf(send(Array.from({ length: 1001 }, () => ({ op: 'revoke', policyId, userId: 'ann' }))))).toMatch(/changes:tooMany/);
  });

  it('refuses every change that contradicts what is stored, and changes nothing', async () => {
    const policyId = await createdPolicy(admin, 'contradictions');
    await send([{ op: 'assign', policyId, userId: 'ann' }]);
    const changes = [
      { op: 'assign', policyId, userId: 'ben' },
      { op: 'assign', policyId, userId: 'ann' },
      { op: 'update', policyId, role: 'viewer' },
      { op: 'assign', policyId, userId: 'unknown' },
      { op: 'assign', policyId: 'none', userId: 'ben' },
      { op: 'revoke', policyId, userId: 'ben' },
    ];
    expect(await mistakesOf(changes)).toEqual([
      'VALUE_INVALID',
      {
        'changes.1.userId': 'taken',
        'changes.2.role': 'reference',
        'changes.3.userId': 'reference',
        'changes.4.policyId': 'reference',
        'changes.5': 'duplicate',
      },
    ]);
    expect(await listed(policyId)).toMatchObject([{ userId: 'ann' }]);
  });

  it('names each change that was made for another version', async () => {
    const policyId = await createdPolicy(admin, 'versions');
    const { data } = await send([
      { op: 'assign', policyId, userId: 'ann' },
      { op: 'assign', policyId, userId: 'ben' },
    ]);
    const version = data[0]?.assignment.version ?? 0;
    const changes = [
      { op: 'update', policyId, userId: 'ann', isActive: false, version },
      { op: 'revoke', policyId, userId: 'ben', version: version + 1 },
      { op: 'assign', policyId, role: 'editor', version },
    ];
    expect(await mistakesOf(changes)).toEqual([
      'RECORD_VERSION',
      { 'changes.1.version': 'RECORD_VERSION', 'changes.2.version': 'RECORD_VERSION' },
    ]);
    expect((await listed(policyId)).map((each) => each.version)).toEqual([version, version]);
  });

  it('requires a version of each stored assignment if If-Match is required', async () => {
    const policyId = await createdPolicy(strict, 'required');
    const { data } = await send([{ op: 'assign', policyId, userId: 'ann' }], {}, strict);
    const change = { op: 'update', policyId, userId: 'ann', isActive: false };
    expect(await mistakesOf([change], strict)).toEqual(['RECORD_VERSION_REQUIRED', { 'changes.0.version': 'RECORD_VERSION_REQUIRED' }]);
    const version = data[0]?.assignment.version ?? 0;
    expect((await send([{ ...change, version }], {}, strict)).data).toMatchObject([{ result: 'updated' }]);
  });
});
