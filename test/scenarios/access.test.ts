import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let stage: ScenarioContext;
beforeAll(async () => {
  stage = await startNewsroom();
  const { service, kept } = stage;
  const { createPolicy } = service;
  const policy = await createPolicy({
    name: 'office hours',
    userId: kept.get('maya') as string,
    rules: [
      {
        resource: 'Article',
        action: 'read',
        description: 'by day',
        conditions: [{ field: 'environment.hour', operator: 'between', value: [8, 18] }],
      },
      {
        resource: '*',
        action: '*',
        effect: 'DENY',
        priority: 900,
        description: 'not from outside',
        conditions: [{ field: 'environment.ip', operator: 'ncidr', value: ['10.0.0.0/8', '127.0.0.0/8'] }],
      },
    ],
  });
  kept.set('policy', policy);
});
afterAll(() => stage.service.close());

const noon = '2026-03-02T12:00:00Z';
const night = '2026-03-02T23:00:00Z';

describe('access tests', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'an access test of an allowed request returns the matched policy and the trace, and writes no access entry',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: {
          user: { id: '{maya}', role: 'user' },
          resource: { name: 'Article' },
          action: 'read',
          environment: { timestamp: noon, ip: '10.1.2.3' },
        },
        status: 200,
        body_has: {
          data: {
            allowed: true,
            matchedPolicy: { id: '{policy}', name: 'office hours' },
            trace: [
              { fired: false, answer: 'false', rule: { effect: 'DENY' } },
              { fired: true, answer: 'true' },
            ],
          },
        },
      },
      {
        name: 'an access test that the hour denies lists the rule that could allow the request',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: { user: { id: '{maya}' }, resource: { name: 'Article' }, action: 'read', environment: { timestamp: night, ip: '10.1.2.3' } },
        status: 200,
        body_has: {
          data: { allowed: false, matchedPolicy: null, wouldAllow: [{ rule: { description: 'by day' } }] },
        },
      },
      {
        name: 'a DENY of higher priority wins over an ALLOW',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: {
          user: { id: '{maya}' },
          resource: { name: 'Article' },
          action: 'read',
          environment: { timestamp: noon, ip: '203.0.113.9' },
        },
        status: 200,
        body_has: { data: { allowed: false, matchedPolicy: { id: '{policy}' }, trace: [{ fired: true, rule: { effect: 'DENY' } }] } },
      },
      {
        name: 'a user without policies is denied',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: {
          user: { id: 'someone', role: 'viewer', email: 'x@example.com', department: 'politics' },
          resource: { name: 'Article', id: 'any' },
          action: 'read',
        },
        status: 200,
        body_has: { data: { allowed: false, matchedPolicy: null, trace: [], wouldAllow: [] } },
      },
      {
        name: 'an access test with mistakes in its context is rejected',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: { user: 'maya', resource: { name: 'Artcle' }, action: 'reed', environment: { timestamp: 'noon', ip: 'home' } },
        status: 400,
        body_has: { code: 'REQUEST_MALFORMED' },
      },
      {
        name: 'one policy is tested alone, even for a user to whom it is not assigned',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/test',
        body: {
          user: { id: 'someone', role: 'viewer' },
          resource: { name: 'Article' },
          action: 'read',
          environment: { timestamp: noon, ip: '127.0.0.1' },
        },
        status: 200,
        body_has: {
          data: {
            allowed: true,
            evaluation: { matched: true, effect: 'ALLOW', policy: { id: '{policy}', name: 'office hours', type: 'CUSTOM' } },
          },
        },
      },
      {
        name: 'a policy without a rule for the request denies it when it is tested alone',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/test',
        body: { user: { id: 'someone', role: 'viewer' }, resource: { name: 'Tip' }, action: 'delete', environment: { ip: '127.0.0.1' } },
        status: 200,
        body_has: { data: { allowed: false, evaluation: { matched: false, effect: 'DENY' } } },
      },
      {
        name: 'a test of an unknown policy is answered 404',
        as: 'admin',
        send: 'POST /admin/api/policies/none/test',
        body: { resource: { name: 'Tip' }, action: 'read' },
        status: 404,
      },
    ],
    it,
  );
});

describe('the audit log and analytics', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'a denied request writes an audit entry',
        as: 'reader',
        send: 'GET /api/Tip',
        status: 403,
        keep: { denial: 'decisionId' },
        entries: [{ resource: 'Tip', allowed: false }],
      },
      {
        name: 'an audit entry is found by user, resource, action and result',
        as: 'admin',
        send: 'GET /admin/api/decisions?userId={reader}&resource=Tip&action=list&allowed=false&kind=access',
        status: 200,
        body_has: { count: 1, data: [{ id: '{denial}' }] },
      },
      {
        name: 'an audit entry before the given time is not listed',
        as: 'admin',
        send: 'GET /admin/api/decisions?resource=Tip&from=2999-01-01T00:00:00Z',
        status: 200,
        body_has: { count: 0 },
      },
      {
        name: 'an audit entry is returned by its id',
        as: 'admin',
        send: 'GET /admin/api/decisions/{denial}',
        status: 200,
        body_has: { data: { id: '{denial}', trace: [], wouldAllow: [] } },
      },
      {
        name: 'an unknown decision is answered 404',
        as: 'admin',
        send: 'GET /admin/api/decisions/none',
        status: 404,
        body_has: { code: 'DECISION_UNKNOWN' },
      },
      { name: 'an invalid filter of audit entries is rejected', as: 'admin', send: 'GET /admin/api/decisions?allowed=maybe', status: 400 },
      {
        name: 'analytics count allowed and denied access, but no administration',
        as: 'admin',
        send: 'GET /admin/api/policies-analytics?timeframe=1d',
        status: 200,
        body_has: {
          data: {
            totalPolicies: 2,
            activePolicies: 2,
            policyTypes: { ROLE_BASED: 1, ATTRIBUTE_BASED: 0, CUSTOM: 1 },
            accessGrants: 2,
            accessDenials: 1,
          },
        },
      },
      {
        name: 'an invalid timeframe of analytics is rejected',
        as: 'admin',
        send: 'GET /admin/api/policies-analytics?timeframe=7y',
        status: 400,
        body_has: { code: 'REQUEST_PARAMETER' },
      },
    ],
    it,
  );

  it('pages of the audit log contain every entry exactly once', async () => {
    const { service, tokens } = stage;
    const token = tokens.get('admin');
    for (let count = 0; count < 7; count++) await service.call('GET', '/api/Comment', { token });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await service.call('GET', `/admin/api/decisions?resource=Comment&limit=3${cursor}`, { token });
      seen.push(...(page.at('data') as { id: string }[]).map(({ id }) => id));
      cursor = page.at('nextCursor') === undefined ? '' : `&cursor=${encodeURIComponent(String(page.at('nextCursor')))}`;
    } while (cursor !== '');
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });

  it('a past decision is explained with the policies of its time', async () => {
    const { service, tokens } = stage;
    const token = tokens.get('admin');
    const reply = await service.call('GET', '/api/Article/nothing', { token: tokens.get('maya') });
    const id = String(reply.headers['x-decision-id']);
    const trace = async () => (await service.call('GET', `/admin/api/decisions/${id}`, { token })).at('data.trace');
    const before = await trace();
    expect(before).toMatchObject([
      { rule: { description: 'not from outside' }, fired: false, answer: 'false' },
      { rule: { description: 'by day' } },
    ]);
    await service.call('PUT', `/admin/api/policies/${stage.kept.get('policy')}`, {
      token,
      body: { rules: [{ resource: 'Tip', action: 'read' }] },
    });
    expect(await trace()).toEqual(before);
    await service.call('DELETE', `/admin/api/policies/${stage.kept.get('policy')}`, { token });
    expect(await trace()).toEqual(before);
  });
});
