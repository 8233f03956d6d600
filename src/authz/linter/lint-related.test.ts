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

  const begins =
    'no index of Member begins with userId: a list searches records of Member for each row, instead of those of the caller once';
  const ofTeam: JsonObject = { teamId: '${resource.teamId}', userId: '${user.id}' };
  it.each<[string, string, JsonObject, readonly string[], string | undefined]>([
    ['begins with the field of the record', 'list', ofTeam, ['teamId', 'userId'], begins],
    ['begins with the field of the record, for all actions', '*', ofTeam, ['teamId', 'userId'], begins],
    ['begins with the field of the record, for a read', 'read', ofTeam, ['teamId', 'userId'], undefined],
    ['begins with the field of the user', 'list', ofTeam, ['userId', 'teamId'], undefined],
    ['has only fields of the record', 'list', { teamId: '${resource.teamId}' }, ['teamId'], undefined],
  ])('an index of related records that %s: %s', (_, action, on, fields, detail) => {
    const policies = [policyOf('p', [{ ...READ, action: action as 'list', conditions: [isMember(on)] }])];
    const found = lintAll({ definitions: member([{ fields }]), policies, rolePolicies: [toRole('user', 'p')] });
    const todo = 'add "indexes: [{ fields: [userId, teamId] }]" to Member';
    expect(found.map((each) => [each.code, each.detail, each.todo])).toEqual(detail === undefined ? [] : [['related-index', detail, todo]]);
  });

  it('the proposed index begins with the fields whose values do not depend on the record', () => {
    const policies = [policyOf('p', [{ ...READ, conditions: [isMember(ofTeam)] }])];
    const found = lintAll({ definitions: member([]), policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.map(({ todo }) => todo)).toEqual(['add "indexes: [{ fields: [userId, teamId] }]" to Member']);
  });

  it.each([
    ['related(Member, m, m.userId == user.id && m.teamId == resource.teamId)', [], true],
    ['related(Member, m, m.userId == user.id && m.teamId == resource.teamId)', [{ fields: ['userId', 'teamId'] }], false],
    ['!related(Member, m, user.id == m.userId && m.teamId == resource.teamId).atMost(2)', [], true],
  ])('the expression %s with the indexes %j is reported if no index finds the records: %s', (expression, indexes, isReported) => {
    const policies = [policyOf('p', [{ ...READ, conditions: [{ expression }] }], { type: 'CUSTOM' })];
    const found = lintAll({ definitions: member(indexes), policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.map(({ code, todo }) => [code, todo])).toEqual(
      isReported ? [['related-index', 'add "indexes: [{ fields: [userId, teamId] }]" to Member']] : [],
    );
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

  const is = (field: string, operator: string, value: JsonObject[string]): JsonObject => ({ field, operator, value });
  it.each<readonly [string, readonly JsonObject[], boolean]>([
    ['two values', [is('m.role', 'eq', 'a'), is('m.role', 'eq', 'b')], true],
    ['a value, and a list without it', [is('m.role', 'in', ['a', 'b']), is('m.role', 'eq', 'c')], true],
    ['a value, and not this value', [is('m.role', 'eq', 'a'), is('m.role', 'ne', 'a')], true],
    ['a value of an enum that no other condition leaves', [is('m.level', 'ne', 'x'), is('m.level', 'ne', 'y')], true],
    ['a number above and below', [is('m.seats', 'eq', 5), is('m.seats', 'gt', 5)], true],
    ['a value twice', [is('m.role', 'eq', 'a'), is('m.role', 'in', ['a', 'b'])], false],
    ['values of different fields', [is('m.role', 'eq', 'a'), is('m.level', 'eq', 'x')], false],
    ['two items of a list', [is('m.tags', 'has', 'a'), is('m.tags', 'has', 'b')], false],
    ['two records of a list', [is('m.friendIds.role', 'eq', 'a'), is('m.friendIds.role', 'eq', 'b')], false],
    ['alternatives', [{ anyOf: [is('m.role', 'eq', 'a'), is('m.role', 'eq', 'b')] }], false],
    ['decimals that are written in two ways', [is('m.fee', 'eq', '1'), is('m.fee', 'eq', '1.0')], false],
  ])('a where with %s is reported if no record meets it', (_, where, isReported) => {
    const indexes = [{ fields: ['userId', 'teamId'] }];
    const more = {
      ...{ role: { type: 'string' }, level: { type: 'enum', values: ['x', 'y'] }, seats: { type: 'integer' }, fee: { type: 'decimal' } },
      ...{ tags: { type: 'list', of: 'string' }, friendIds: { type: 'list', of: { type: 'reference', to: 'Member' } } },
    };
    const definitions = definitionsOf(
      { name: 'Article', fields: { teamId: { type: 'string' } } },
      { name: 'Member', fields: { userId: { type: 'string' }, teamId: { type: 'string' }, ...more }, indexes },
    );
    const condition = { related: { resource: 'Member', as: 'm', on: BOTH, where } };
    const policies = [policyOf('p', [{ ...READ, conditions: [condition] }])];
    const found = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.filter(({ code }) => code !== 'many-conditions').map(({ code }) => code)).toEqual(isReported ? ['never-holds'] : []);
  });

  it('a value that a field of related records never has is reported', () => {
    const definitions = member([{ fields: ['userId', 'teamId'] }], { type: 'enum', values: ['a', 'b'] });
    const policies = [policyOf('p', [{ ...READ, conditions: [isMember({ userId: 'c', teamId: 'x' })] }])];
    const found = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] });
    expect(found.map(({ code, path }) => [code, path])).toEqual([['never-equal', 'rules.0.conditions.0.related.on.userId']]);
  });

  it.each<[string, JsonObject, string | undefined]>([
    ['a comparison that SQL can make', { where: [is('m.teamId', 'eq', 'x')] }, undefined],
    ['a pattern', { where: [is('m.teamId', 'matches', '^x')] }, '"matches" on "m.teamId"'],
    [
      'a pattern in a group',
      { where: [{ anyOf: [is('m.teamId', 'eq', 'x'), { not: is('m.teamId', 'matches', '^x') }] }] },
      '"matches" on "m.teamId"',
    ],
    ['a pattern for the caller alone', { on: { userId: '${user.id}' }, where: [is('m.teamId', 'matches', '^x')] }, undefined],
    [
      'a pattern in a nested condition',
      { where: [{ related: { resource: 'Member', as: 'n', on: { userId: '${m.userId}' }, where: [is('n.teamId', 'matches', '^x')] } }] },
      '"matches" on "n.teamId"',
    ],
    ['checksums', { resource: 'Sealed' }, 'a condition on records of Sealed, which have checksums'],
  ])('a condition on related records with %s is reported if the database cannot evaluate it', (_, parts, name) => {
    const condition = { related: { resource: 'Member', as: 'm', on: BOTH, ...parts } };
    const fields = { userId: { type: 'string', index: true }, teamId: { type: 'string' } };
    const indexes = [{ fields: ['userId', 'teamId'] }];
    const definitions = definitionsOf(
      { name: 'Article', fields: { teamId: { type: 'string' } } },
      { name: 'Member', fields, indexes },
      { name: 'Sealed', fields, indexes, checksum: true },
    );
    const policies = [policyOf('p', [{ ...READ, action: 'list', conditions: [condition] }])];
    const found = lintAll({ definitions, policies, rolePolicies: [toRole('user', 'p')] });
    const detail = `the database cannot evaluate ${name}: lists and exports filter the records in memory`;
    expect(found.map((each) => [each.code, each.detail])).toEqual(name === undefined ? [] : [['in-memory', detail]]);
  });
});
