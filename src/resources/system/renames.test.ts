import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { composeDefinitions } from './system-definitions.ts';

function compose(...sources: readonly JsonObject[]): ReturnType<typeof composeDefinitions> {
  const fields = { title: { type: 'string' } };
  return composeDefinitions(
    sources.map((source) => ({
      file: `${String(source['name'])}.yaml`,
      source: { fields, ...source },
      locate: () => ({ line: 1, column: 1 }),
    })),
  );
}

describe('a resource renamed from another', () => {
  it('is taken where the other name is free', () => {
    const { definitions, mistakes } = compose({ name: 'Post', renamedFrom: 'Article' });
    expect([definitions.get('Post')?.renamedFrom, mistakes]).toEqual(['Article', []]);
  });

  it.each<[string, readonly JsonObject[], string]>([
    [
      'one that is still defined',
      [{ name: 'Post', renamedFrom: 'Article' }, { name: 'Article' }],
      'expected a name that no resource has any more, given "Article"',
    ],
    ['one that is built in', [{ name: 'Post', renamedFrom: 'User' }], 'expected a name that no resource has any more, given "User"'],
    [
      'what another comes from',
      [
        { name: 'A', renamedFrom: 'C' },
        { name: 'B', renamedFrom: 'C' },
      ],
      'expected a name that one resource comes from, given "C" again',
    ],
    ['itself', [{ name: 'Post', renamedFrom: 'Post' }], 'expected the previous name, given the current name'],
    ['a table of ours', [{ name: 'Post', renamedFrom: '_Policy' }], 'expected a name of 1 to 63 letters'],
    ['no name', [{ name: 'Post', renamedFrom: 7 }], 'expected a name, given 7'],
  ])('refuses %s', (_, sources, detail) => {
    expect(compose(...sources).mistakes).toMatchObject([{ path: 'renamedFrom', detail: expect.stringContaining(detail) }]);
  });
});
