/** Policies that would be too expensive to store or to decide. A limit refuses them, and the response lists every mistake. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type Attack, type AttackTarget, checkAttacks, expectDiscreet, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

/** Creates a policy with one rule that has these conditions. */
const policyOf = (...conditions: readonly unknown[]) => ({
  name: 'too much',
  type: 'CUSTOM',
  rules: [{ resource: 'Case', action: 'read', conditions }],
});
const nots = (levels: number): unknown =>
  JSON.parse(`${'{"not":'.repeat(levels)}{"field":"user.id","operator":"exists","value":true}${'}'.repeat(levels)}`);
const numbers = (count: number) => ({
  field: 'resource.amount',
  operator: 'in',
  value: Array.from({ length: count }, (_, index) => index),
});
const pattern = (value: string) => ({ field: 'resource.title', operator: 'matches', value });
const sum = (length: number) => ({ expression: `${'1 + '.repeat(length / 4)}1 == 2` });

/** Returns path and code of each mistake in a response. */
const mistakesOf = (reply: Reply): readonly (readonly string[])[] =>
  (reply.at('errors') as readonly Record<'path' | 'code', string>[]).map(({ path, code }) => [path, code]);
const says =
  (...mistakes: readonly (readonly string[])[]) =>
  (reply: Reply): void =>
    expect(mistakesOf(reply)).toEqual(mistakes);

const CONDITION = 'rules.0.conditions.0';

describe('a policy', () => {
  checkAttacks(
    () => target,
    (
      [
        {
          name: 'of 10,000 rules',
          body: { name: 'x', type: 'CUSTOM', rules: Array(10_000).fill({ resource: '*', action: '*' }) },
          answers: 422,
          also: says(['rules', 'tooMany']),
        },
        {
          name: 'with 1,000 conditions deep in each other',
          body: policyOf(nots(1000)),
          answers: 400,
          also: (reply) => expect(reply.at('code')).toBe('REQUEST_MALFORMED'),
        },
        {
          name: 'with 50 conditions deep in each other',
          body: policyOf(nots(50)),
          answers: 422,
          also: says([`${CONDITION}${'.not'.repeat(17)}`, 'tooDeep']),
        },
        { name: 'with an expression of 1 MB', body: policyOf(sum(1_048_576)), answers: 413 },
        {
          name: 'with an expression of 1 MB, all but its envelope',
          body: policyOf(sum(1_048_000)),
          answers: 422,
          also: says([`${CONDITION}.expression`, 'tooLong']),
        },
        { name: 'with an in of a million', body: policyOf(numbers(1_000_000)), answers: 413 },
        {
          name: 'with an in of a hundred thousand',
          body: policyOf(numbers(100_000)),
          answers: 422,
          also: says([`${CONDITION}.value`, 'tooMany']),
        },
        {
          name: 'with a pattern of repetitions of repetitions',
          body: policyOf(pattern('((a{1,1000}){1,1000}){1,1000}')),
          answers: 422,
          also: (reply) => expect(mistakesOf(reply)[0]).toEqual([`${CONDITION}.value`, 'value']),
        },
      ] satisfies readonly Omit<Attack, 'send'>[]
    ).map((attack) => ({ ...attack, as: 'admin', send: 'POST /admin/api/policies' })),
    'refuses a policy ',
  );

  it('refuses a policy with all of these mistakes with an error for each, with its path', async () => {
    // A larger body limit, so that the policy is refused and not the body.
    const roomy = await startAttackTarget({ bodyBytes: 64_000_000, jsonDepth: 500 });
    try {
      const body = policyOf(nots(300), sum(1_048_576), numbers(1_000_000), pattern('((a{1,1000}){1,1000}){1,1000}'), pattern('('), {
        anyOf: Array(1000).fill({ field: 'user.id', operator: 'eq', value: 'x' }),
      });
      const reply = await roomy.as('admin', 'POST', '/admin/api/policies', { body });
      expect(reply.status).toBe(422);
      expect(mistakesOf(reply).map(([path]) => path)).toEqual([
        `${CONDITION}${'.not'.repeat(17)}`,
        'rules.0.conditions.1.expression',
        'rules.0.conditions.2.value',
        'rules.0.conditions.3.value',
        'rules.0.conditions.4.value',
        // The conditions before it count towards the 200 that a rule may have.
        'rules.0.conditions.5.anyOf.178',
      ]);
      expectDiscreet(reply);
    } finally {
      await roomy.close();
    }
  });

  it('accepts a policy with a pattern that backtracks in other engines, and decides in time', async () => {
    const id = await target.createPolicy({
      role: 'user',
      rules: [{ resource: 'Case', action: 'read', effect: 'DENY', conditions: [pattern('(a+)+$')] }],
    });
    const made = await target.as('alice', 'POST', '/api/Case', { body: { title: `${'a'.repeat(199)}!` } });
    const read = await target.as('alice', 'GET', `/api/Case/${made.at('data.id')}`);
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    expect([made.status, read.status]).toEqual([201, 200]);
  });
});
