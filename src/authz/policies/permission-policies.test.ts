import { describe, expect, it } from 'vitest';
import { definitionsOf, LIMITS, NEWSROOM } from '../../../test/policy-fixtures.ts';
import { parsePolicy } from './parse-policy.ts';
import { policiesFromPermissions } from './permission-policies.ts';

describe('policiesFromPermissions', () => {
  it('returns one policy with its actions for each role of a map', () => {
    const { policies, assignments } = policiesFromPermissions(NEWSROOM);
    expect(
      policies.map(({ name, type, rules }) => [name, type, rules.map(({ resource, action, effect }) => `${effect} ${action} ${resource}`)]),
    ).toEqual([
      ['permissions: Article for anon', 'ROLE_BASED', ['ALLOW list Article', 'ALLOW read Article']],
      ['permissions: Article for user', 'ROLE_BASED', ['ALLOW list Article']],
      ['permissions: Article for admin', 'ROLE_BASED', ['ALLOW create Article']],
    ]);
    expect(assignments).toEqual(policies.map(({ name }) => ({ policy: name, role: name.split(' ').at(-1) })));
  });

  it('returns the same policies each time, and none without maps', () => {
    expect(policiesFromPermissions(NEWSROOM)).toEqual(policiesFromPermissions(NEWSROOM));
    expect(policiesFromPermissions(definitionsOf())).toEqual({ policies: [], assignments: [] });
  });

  it('returns policies that the admin endpoint accepts', () => {
    for (const policy of policiesFromPermissions(NEWSROOM).policies) {
      expect(parsePolicy(JSON.parse(JSON.stringify(policy)), { definitions: NEWSROOM, limits: LIMITS }).issues).toEqual([]);
    }
  });
});
