import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../authn/sessions.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { codeOf, openPipeline, type TestPipeline } from '../pipeline.fixture.ts';
import type { Proposal, RequestContext } from '../request-context.ts';
import { createPasswordHashes } from './password-changes.ts';
import { insert, save } from './write-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({ definitions: {} });
});
afterAll(() => test.dispose());

const toProposal = (record: Proposal['record'], values: JsonObject, cleared: readonly string[] = []): Proposal => ({
  record: { ...record, ...values },
  values,
  cleared,
  issues: [],
});

describe('changes of users', () => {
  /** Changes a user as Ada and returns the number of open sessions of Ann before and after. */
  async function change(id: 'ada' | 'ann', values: JsonObject, cleared: readonly string[] = []): Promise<readonly number[]> {
    return test.inContext({ as: 'ada', request: { action: 'update', resource: 'User', id } }, async (given) => {
      const context: RequestContext = { ...given, hashes: createPasswordHashes({ hashes: new Map([['new password', ['its hash']]]) }) };
      await openSession(context.tx, { userId: 'ann', client: { ip: '192.0.2.1' }, seconds: 3600 });
      const open = async () => (await context.tx.all(sql`SELECT 1 FROM "_Session" WHERE "userId" = 'ann' AND "revokedAt" IS NULL`)).length;
      const before = await open();
      const found = [{ id, version: 1, role: id === 'ada' ? 'admin' : 'user', isActive: true }];
      await save(context, {
        found,
        proposals: found.map((record) => toProposal(record, values, cleared)),
        decision: { effect: 'allow' } as never,
      });
      return [before, await open()];
    });
  }

  it.each<[string, JsonObject, readonly string[], readonly number[]]>([
    ['a new password ends the sessions of the user', { password: 'new password' }, [], [2, 0]],
    ['a removed password ends the sessions of the user', {}, ['password'], [2, 0]],
    ['a deactivation ends the sessions of the user', { isActive: false }, [], [2, 0]],
    ['another change keeps the sessions of the user', { name: 'Anne' }, [], [2, 2]],
  ])('changes a user: %s', async (_, values, cleared, sessions) => {
    expect(await change('ann', values, cleared)).toEqual(sessions);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['a demotion', { role: 'user' }, []],
    ['a deactivation', { isActive: false }, []],
    ['a removal of the password', {}, ['password']],
  ])('%s of the last active admin is refused', async (_, values, cleared) => {
    expect(await codeOf(change('ada', values, cleared))).toBe('IDENTITY_LAST_ADMIN');
  });

  it('a password is stored as its hash, and never shown', async () => {
    await test.inContext({ as: 'ada', request: { action: 'create', resource: 'User' } }, async (given) => {
      const context: RequestContext = { ...given, hashes: createPasswordHashes({ hashes: new Map([['new password', ['its hash']]]) }) };
      const record = { id: 'eve', version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };
      const values = { email: 'eve@example.com', role: 'user', isActive: true, password: 'new password' };
      const { data } = await insert(context, {
        found: [],
        proposals: [toProposal(record, values)],
        decision: { effect: 'allow' } as never,
      });
      expect(await context.tx.one(sql`SELECT "password" FROM "User" WHERE "id" = 'eve'`)).toEqual({ password: 'its hash' });
      expect(data).not.toHaveProperty('password');
    });
  });
});
