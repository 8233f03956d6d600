import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchEntries } from '../../audit/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { openPipeline, type TestPipeline, type TestUser } from '../../pipeline/pipeline.fixture.ts';
import { type HttpRequest, parseQuery } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

let test: TestPipeline;
beforeAll(async () => {
  const own = [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }] as const;
  test = await openPipeline({
    definitions: { Article: { fields: { title: { type: 'string' } } } },
    rules: [{ resource: 'User', action: 'update', conditions: own }],
  });
});
afterAll(() => test.dispose());

/** Sends a request; returns the status, or the code of the problem with its issues. */
async function change(body: Json, as: TestUser = 'ann'): Promise<unknown> {
  const route = createAuthRoutes(test.deps as unknown as ApiDeps, { hasSetup: true }).find(({ path }) => path === '/auth/me/password');
  const request = { method: 'PUT', params: new Map(), query: parseQuery(''), body, header: () => undefined, origin: test.originOf(as) };
  try {
    return (await route?.handle(request as HttpRequest, () => undefined))?.status;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.code, error.extras.errors?.map(({ path }) => path), error.extras.decisionId !== undefined];
  }
}

describe('PUT /auth/me/password', () => {
  it('a user without a password cannot prove one', async () => {
    const outcome = await change({ currentPassword: 'old password', newPassword: 'a longer horse battery' });
    expect(outcome).toEqual(['IDENTITY_CURRENT_PASSWORD', undefined, true]);
    const { entries } = await test.deps.database.transaction((tx) => searchEntries(tx, { limit: 2 }));
    expect(entries.map(({ kind, action, allowed, outcome: code }) => [kind, action, allowed, code]).sort()).toEqual([
      ['access', 'update', true, 'IDENTITY_CURRENT_PASSWORD'],
      ['auth', 'password', false, 'IDENTITY_CURRENT_PASSWORD'],
    ]);
  });

  it('names newPassword in the problem of a password that the definition refuses', async () => {
    const outcome = await change({ currentPassword: 'old password', newPassword: 'password1' });
    expect(outcome).toEqual(['VALUE_INVALID', ['newPassword'], true]);
  });

  it('requires a token', async () => {
    const body = { currentPassword: 'old password', newPassword: 'a longer horse battery' };
    expect(await change(body, 'anon')).toEqual(['IDENTITY_REQUIRED', undefined, false]);
  });
});
