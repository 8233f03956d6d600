import { describe, expect, it } from 'vitest';
import { definitionsOf, policyOf, toRole } from '../../../test/policy-fixtures.ts';
import type { JsonObject } from '../../operators/index.ts';
import { lintAll, READ } from './lint.fixture.ts';

const member = (indexes: readonly JsonObject[], userId: JsonObject = {}) =>
  definitionsOf(
    { name: 'Article', fields: { teamId: { type: 'string' } } },
    { name: 'Member', fields: { userId: { type: 'string', ...userId }, teamId: { type: 'string' } }, indexes },
  );
const isMember = (on: JsonObject): JsonObject => ({ related: { resource: 'Member', as: 'm', on } });
const BOTH: JsonObject = { userId: '${user.id}', teamId: '${resource.teamId}' };

describe('a condition on related records', () => {
  const cases: readonly [string, ReturnType<typeof member>, JsonObject, boolean][] = [
    ['no index', member([]), BOTH, true],
    ['an index on one of its fields', member([{ fields: ['userId'] }]), BOTH, true],
    ['an index on its fields in another order', member([{ fields: ['teamId', 'userId'] }]), BOTH, false],
    ['an index that begins with another field', member([{ fields: ['createdAt', 'userId', 'teamId'] }]), BOTH, true],
    ['an index on some of the records', member([{ fields: ['userId', 'teamId'], where: { teamId: 'x' } }]), BOTH, true],
    ['an index of its only field', member([], { index: true }), { userId: '${user.id}' }, false],
    ['a unique field', member([], { unique: true }), BOTH, false],
    ['a link by id', member([]), { id: '${resource.teamId}' }, false],
  ];
  it.each(cases)('a condition on related records with %s is reported if no index finds them', (_, definitions, on, isReported) => {
    const policies = [policyOf('p', [{ ...READ, conditions: [isMember(on)] }])];
    const found = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] }).filter(({ code }) => code === 'related-index');
    expect(found.map(({ todo }) => todo)).toEqual(isReported ? ['add "indexes: [{ fields: [userId, teamId] }]" to Member'] : []);
  });

  it.each([
    [100, false],
    [101, true],
  ])('a condition that requires %i related records, of at most 100, is reported: %s', (atLeast, isReported) => {
    const condition = { related: { resource: 'Member', as: 'm', on: BOTH, atLeast } };
    const policies = [policyOf('p', [{ ...READ, conditions: [condition] }])];
    const found = lintAll({ definitions: member([{ fields: ['userId', 'teamId'] }]), policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.map(({ code }) => code)).toEqual(isReported ? ['never-holds'] : []);
  });

  it('a value that a field of related records never has is reported', () => {
    const definitions = member([{ fields: ['userId', 'teamId'] }], { type: 'enum', values: ['a', 'b'] });
    const policies = [policyOf('p', [{ ...READ, conditions: [isMember({ userId: 'c', teamId: 'x' })] }])];
    const found = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.map(({ code, path }) => [code, path])).toEqual([['never-equal', 'rules.0.conditions.0.related.on.userId']]);
  });
});
