import { describe, expect, it } from 'vitest';
import { onlyValid } from './only-valid.ts';

describe('onlyValid', () => {
  const validate = onlyValid(({ page }): { readonly page?: number } => (typeof page === 'number' ? { page } : {}));

  it('keeps a validated parameter', () => {
    expect({ page: 1, ...validate({ page: 2 }) }).toEqual({ page: 2 });
  });

  it('removes a refused and an unknown parameter from those of the parent route', () => {
    const given = { page: 'two', other: 'x' };
    expect({ ...given, ...validate(given) }).toEqual({ page: undefined, other: undefined });
  });
});
