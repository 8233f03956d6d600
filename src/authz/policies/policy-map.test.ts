import { describe, expect, it } from 'vitest';
import { policyOf } from '../../../test/policy-fixtures.ts';
import type { Policy, UnparsedPolicy } from './policy.ts';
import { PolicyMap } from './policy-map.ts';

/** Returns a policy that counts how often it is parsed. */
function unparsed(id: string, isActive = true): UnparsedPolicy & { parsed: number } {
  return {
    ...{ id, isActive, resources: [], parsed: 0 },
    parse(): Policy {
      this.parsed++;
      return policyOf(id, [], { isActive });
    },
  };
}

describe('a map of policies', () => {
  it('parses a policy on first use, and then returns the same object', () => {
    const [a, b] = [unparsed('a'), unparsed('b')];
    const map = new PolicyMap([a, b, policyOf('c', [])]);
    expect([map.size, map.has('a'), [...map.keys()], a.parsed]).toEqual([3, true, ['a', 'b', 'c'], 0]);
    expect(map.get('a')).toBe(map.get('a'));
    expect([a.parsed, b.parsed, map.get('c')?.id]).toEqual([1, 0, 'c']);
  });

  it('leaves out inactive policies', () => {
    const map = new PolicyMap([unparsed('a', false), policyOf('b', [], { isActive: false })]);
    expect([map.size, map.has('a'), map.get('a'), map.get('b')]).toEqual([0, false, undefined, undefined]);
  });

  it('throws each time that a policy is needed which cannot be parsed', () => {
    const damaged = {
      ...unparsed('a'),
      parse: () => {
        throw new Error('damaged');
      },
    };
    const map = new PolicyMap([damaged]);
    for (let time = 0; time < 2; time++) expect(() => map.get('a')).toThrow('damaged');
  });
});
