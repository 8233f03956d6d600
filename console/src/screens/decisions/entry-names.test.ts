import { describe, expect, it } from 'vitest';
import { createKnownNames } from './entry-names.ts';
import { NO_NAMES } from './queries.ts';

const page = (users: Readonly<Record<string, string>>) => ({ data: [], names: { ...NO_NAMES, users } });

describe('createKnownNames', () => {
  it('names of earlier pages stay', () => {
    const known = createKnownNames();
    known.add([page({ u1: 'Maya' })]);
    expect(known.add([page({ u2: 'Tom' })]).users).toEqual({ u1: 'Maya', u2: 'Tom' });
  });

  it('pages without new names return the same object, so that no row renders again', () => {
    const known = createKnownNames();
    const [first, second] = [page({ u1: 'Maya' }), page({ u1: 'Maya' })];
    const names = known.add([first]);
    expect(known.add([first, second])).toBe(names);
    expect(known.add([first, second, { data: [] }])).toBe(names);
  });

  it('a later name of the same user replaces the earlier one', () => {
    const known = createKnownNames();
    known.add([page({ u1: 'Maya' })]);
    expect(known.add([page({ u1: 'Maya Lind' })]).users).toEqual({ u1: 'Maya Lind' });
  });
});
