import { describe, expect, it } from 'vitest';
import { define, resourceOf } from '../storage.fixture.ts';
import type { AppliedResource } from './applied.ts';
import { settleInForce } from './in-force.ts';

const before = define({
  A: { fields: { b: { type: 'reference', to: 'B' } } },
  B: { fields: { z: { type: 'list', of: { type: 'reference', to: 'Z' } } } },
  Z: { fields: { name: { type: 'string' } } },
});
const after = define({ A: { fields: { b: { type: 'string' } } } });

/** What was applied before: `name` in force, `-name` kept aside. */
function applied(...names: readonly string[]): ReadonlyMap<string, AppliedResource> {
  return new Map(
    names.map((name) => [name.replace('-', ''), { resource: resourceOf(before, name.replace('-', '')), keptAside: name.startsWith('-') }]),
  );
}

describe('settleInForce', () => {
  it.each([
    ['takes everything where nothing is refused', applied('A', 'B', 'Z'), [], ['A'], []],
    ['keeps all that a refused resource needs', applied('A', 'B', 'Z'), ['A'], ['A', 'B', 'Z'], ['B', 'Z']],
    ['leaves out what never was', applied(), ['A'], [], []],
    ['leaves out what needs something that is not there', applied('A'), ['A'], [], ['A']],
    ['ends where what is needed needs something that is not there', applied('A', 'B', '-Z'), ['A'], [], ['B', 'A']],
  ] as const)('%s', (_, were, refused, inForce, also) => {
    const settled = settleInForce(after, { applied: were }, new Set(refused));
    expect(['A', 'B', 'Z'].filter((name) => settled.definitions.has(name))).toEqual(inForce);
    expect([...settled.refused.keys()]).toEqual(also);
  });
});
