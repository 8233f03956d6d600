import { expect } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import {
  inCode,
  inShort,
  storedIn,
  type TestPipeline,
  type TestRecords,
  type TestRequest,
  type TestRule,
  type TestUser,
} from '../pipeline.fixture.ts';
import { runPipeline } from '../pipeline.ts';

/** A request that writes articles, and its expected outcome. */
export interface WriteCase {
  readonly title: string;
  /** Default: ann. */
  readonly as?: TestUser;
  readonly request: Omit<TestRequest, 'resource'>;
  /** Default: everything is allowed. */
  readonly rules?: readonly TestRule[];
  /** The stored articles. Default: none. */
  readonly articles?: TestRecords[string];
  /** Members of the result, or the problem in short. */
  readonly ends: object | string;
  readonly stored: readonly string[];
  readonly entries: readonly string[];
}

/** Returns a rule on articles. */
export function allow(action: string, ...conditions: readonly JsonObject[]): TestRule {
  return { resource: 'Article', action, conditions };
}

/** Runs the whole pipeline of the action, because the steps share what they found, and expects the outcome. */
export async function checkWrite(
  test: TestPipeline,
  { as = 'ann', rules = [allow('*')], articles = {}, ...expected }: WriteCase,
): Promise<void> {
  const { request, ends, stored, entries } = expected;
  const situation = { as, request: { resource: 'Article', ...request }, rules, records: { Article: articles } };
  await test.inContext(situation, async (context) => {
    const outcome = await runPipeline(context);
    expect('problem' in outcome ? inCode(outcome.problem) : outcome.result).toEqual(
      typeof ends === 'string' ? ends : expect.objectContaining(ends),
    );
    const rows = await storedIn(context.tx, ['Article']);
    expect(rows.map((row) => row.replace(/[0-9a-f]{8}-[0-9a-f-]+/, 'NEW'))).toEqual(stored);
    expect(inShort(context.entries)).toEqual(entries);
  });
}
