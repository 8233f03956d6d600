import { describe, expect, it } from 'vitest';
import { define, resourceOf } from '../storage.fixture.ts';
import type { AppliedResource } from './applied-definitions.ts';
import { resolveDefinitionsInForce } from './definitions-in-force.ts';

const before = define({
  A: { fields: { b: { type: 'reference', to: 'B' } } },
  B: { fields: { z: { type: 'list', of: { type: 'reference', to: 'Z' } } } },
  Z: { fields: { name: { type: 'string' } } },
});
const after = define({ A: { fields: { b: { type: 'string' } } } });

/** What was applied before: `name` in force, `-name` kept aside. */
function applied(...names: readonly string[]): ReadonlyMap<string, AppliedResource> {
  return new Map(
    names.map((name) => [name.replace('-', ''), { resource: resourceOf(before, name.replace('-', '')), archived: name.startsWith('-') }]),
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
    const settled = resolveDefinitionsInForce(after, { applied: were }, new Set(refused));
    expect(['A', 'B', 'Z'].filter((name) => settled.definitions.has(name))).toEqual(inForce);
    expect([...settled.refused.keys()]).toEqual(also);
  });

  const parts = { Whole: { name: { type: 'string' } }, Part: { whole: { type: 'reference', to: 'Whole', onDelete: 'cascade' } } };
  const keeping = (softDelete: boolean) => define({ Whole: { softDelete, fields: parts.Whole }, Part: { softDelete, fields: parts.Part } });

  it.each([
    ['whoever is no longer to keep deleted records waits for what goes with it', true, 'Part', /^Whole cannot turn softDelete off: Part/],
    ['whoever is to keep deleted records waits for what it goes with', false, 'Whole', /^Part cannot turn softDelete on: Whole/],
  ] as const)('%s', (_, was, refused, why) => {
    const applied = new Map([...keeping(was)].map(([name, resource]) => [name, { resource, archived: false }]));
    const settled = resolveDefinitionsInForce(keeping(!was), { applied }, new Set([refused]));
    expect(['Whole', 'Part'].map((name) => settled.definitions.get(name)?.softDelete)).toEqual([was, was]);
    expect([...settled.refused]).toEqual([[refused === 'Part' ? 'Whole' : 'Part', expect.stringMatching(why)]]);
    // The other way round, nobody has to wait.
    const other = refused === 'Part' ? 'Whole' : 'Part';
    expect(resolveDefinitionsInForce(keeping(!was), { applied }, new Set([other])).refused.size).toBe(0);
  });
});
