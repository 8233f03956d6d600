import { expect, it } from 'vitest';
import { LIMITS, NEWSROOM, NOW, policyOf, stateOf, toRole } from '../../../test/policy-fixtures.ts';
import { applicableRules } from './applicable-rules.ts';
import { compilePolicies } from './policy-snapshot.ts';
import { AUDIT_LOG_NAME, coversResource } from './rule-resources.ts';

it('covers every resource but the audit log by *', () => {
  expect(coversResource('*', 'Article')).toBe(true);
  expect(coversResource('*', AUDIT_LOG_NAME)).toBe(false);
  expect(coversResource(AUDIT_LOG_NAME, AUDIT_LOG_NAME)).toBe(true);
});

it('applies no rule about all resources to the audit log, even if no rule names it', () => {
  const state = stateOf({ policies: [policyOf('p', [{ id: 'all' }])], rolePolicies: [toRole('user', 'p')] });
  const snapshot = compilePolicies(state, NEWSROOM, LIMITS);
  const request = { assignments: [], role: 'user', action: 'read', now: NOW } as const;
  const ids = (resource: string) => applicableRules(snapshot, { ...request, resource }).rules.map(({ id }) => id);
  // The rules of resources that no rule names are cached under one key.
  expect([ids('Unheard'), ids(AUDIT_LOG_NAME), ids('Unheard')]).toEqual([['all'], [], ['all']]);
});
