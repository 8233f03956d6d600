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

/** The applied definitions: `name` in force, `-name` archived. */
function applied(...names: readonly string[]): ReadonlyMap<string, AppliedResource> {
  return new Map(
    names.map((name) => [name.replace('-', ''), { resource: resourceOf(before, name.replace('-', '')), archived: name.startsWith('-') }]),
  );
}

describe('resolveDefinitionsInForce', () => {
  it.each([
    ['takes all definitions if none is refused', applied('A', 'B', 'Z'), [], ['A'], []],
    ['keeps every resource that a refused one references', applied('A', 'B', 'Z'), ['A'], ['A', 'B', 'Z'], ['B', 'Z']],
    ['leaves out a refused resource that was never applied', applied(), ['A'], [], []],
    ['leaves out a resource that references a missing one', applied('A'), ['A'], [], ['A']],
    ['ends if a referenced resource references a missing one', applied('A', 'B', '-Z'), ['A'], [], ['B', 'A']],
  ] as const)('resolves the definitions in force: %s', (_, were, refused, inForce, also) => {
    const resolved = resolveDefinitionsInForce(after, { applied: were }, new Set(refused));
    expect(['A', 'B', 'Z'].filter((name) => resolved.definitions.has(name))).toEqual(inForce);
    expect([...resolved.refused.keys()]).toEqual(also);
  });

  const parts = { Whole: { name: { type: 'string' } }, Part: { whole: { type: 'reference', to: 'Whole', onDelete: 'cascade' } } };
  const keeping = (softDelete: boolean) => define({ Whole: { softDelete, fields: parts.Whole }, Part: { softDelete, fields: parts.Part } });

  it.each([
    ['softDelete stays on as long as a cascading resource has it', true, 'Part', /^Whole cannot turn softDelete off: Part/],
    [
      'softDelete stays off as long as the resource that it is deleted with has none',
      false,
      'Whole',
      /^Part cannot turn softDelete on: Whole/,
    ],
  ] as const)('refuses definitions that contradict those in force: %s', (_, was, refused, why) => {
    const applied = new Map([...keeping(was)].map(([name, resource]) => [name, { resource, archived: false }]));
    const resolved = resolveDefinitionsInForce(keeping(!was), { applied }, new Set([refused]));
    expect(['Whole', 'Part'].map((name) => resolved.definitions.get(name)?.softDelete)).toEqual([was, was]);
    expect([...resolved.refused]).toEqual([[refused === 'Part' ? 'Whole' : 'Part', expect.stringMatching(why)]]);
    // In the other order, no resource is held back.
    const other = refused === 'Part' ? 'Whole' : 'Part';
    expect(resolveDefinitionsInForce(keeping(!was), { applied }, new Set([other])).refused.size).toBe(0);
  });
});
