import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Condition } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import { renderSql } from '../../sql.ts';
import { parseCondition } from '../condition.fixture.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { compileList } from './compile-list.ts';
import type { CompiledList, ListQuery } from './list-query.ts';

const DEFINITIONS = define({
  Membership: {
    fields: { userId: { type: 'string' }, team: { type: 'string' }, joinedAt: { type: 'timestamp' } },
    indexes: [{ fields: ['userId', 'team'] }],
  },
  Document: { fields: { team: { type: 'string' } } },
});
const DOCUMENT = resourceOf(DEFINITIONS, 'Document');
const DAY = 86_400_000;
const NOW = Date.parse('2026-11-28T12:00:00Z');

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
});
afterAll(() => test.dispose());

/** Parses the condition of a list: a membership of the user in the team of the document. */
function isMember(user: string, where?: readonly Json[]): Condition {
  const related = { resource: 'Membership', as: 'm', on: { userId: user, team: '${resource.team}' }, ...(where && { where }) };
  return parseCondition({ definitions: DEFINITIONS, resource: 'Document' }, { related });
}

const inTransaction = <T>(work: (tx: Transaction) => T): Promise<T> => test.database.transaction(async (tx) => work(tx));

const compile = (tx: Transaction, condition: Condition, options: Partial<ListQuery> = {}): CompiledList =>
  compileList(tx, DOCUMENT, { condition, definitions: DEFINITIONS, existence: undefined, now: NOW, timeZone: 'UTC', ...options });

const valuesOf = (tx: Transaction, { compiled }: CompiledList): readonly unknown[] =>
  renderSql(compiled.where, tx.dialect.placeholder).parameters;

describe('compileList', () => {
  it('compiles equal conditions on other records once', async () => {
    const [first, second] = await inTransaction((tx) => [compile(tx, isMember('a')), compile(tx, isMember('a'), { now: NOW + DAY })]);
    expect(second?.compiled).toBe(first?.compiled);
    expect(second?.condition).not.toBe(first?.condition);
  });

  it('compiles another value, existence, time zone and set of definitions by itself', async () => {
    const others: readonly Partial<ListQuery>[] = [
      { existence: 'deleted' },
      { timeZone: 'Europe/Berlin' },
      { definitions: new Map(DEFINITIONS) },
    ];
    const lists = await inTransaction((tx) => [
      compile(tx, isMember('a')),
      compile(tx, isMember('b')),
      ...others.map((options) => compile(tx, isMember('a'), options)),
    ]);
    expect(new Set(lists.map(({ compiled }) => compiled)).size).toBe(lists.length);
  });

  it('compiles a condition that reads the time for the time of its list', async () => {
    const where = [{ field: 'm.joinedAt', operator: 'withinLast', value: '1d' }];
    const values = await inTransaction((tx) => [NOW, NOW + DAY].map((now) => valuesOf(tx, compile(tx, isMember('a', where), { now }))));
    expect(values[0]).toContain('2026-11-28T12:00:00.000Z');
    expect(values[1]).toContain('2026-11-29T12:00:00.000Z');
    expect(values[1]).not.toContain('2026-11-27T12:00:00.000Z');
  });

  it('keeps no condition with a long key', async () => {
    const where = [{ field: 'm.team', operator: 'in', value: Array.from({ length: 100 }, (_, index) => `${'team'.repeat(10)} ${index}`) }];
    const [first, second] = await inTransaction((tx) => [compile(tx, isMember('a', where)), compile(tx, isMember('a', where))]);
    expect(second?.compiled).not.toBe(first?.compiled);
    expect(second?.compiled).toEqual(first?.compiled);
  });
});
