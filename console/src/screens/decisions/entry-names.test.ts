import { describe, expect, it } from 'vitest';
import { createKnownNames, describeCell } from './entry-names.ts';
import { type Entry, NO_NAMES } from './queries.ts';

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

describe('describeCell', () => {
  const entry = {
    kind: 'access',
    userId: 'u1',
    role: 'editor',
    action: 'update',
    resource: 'Article',
    recordId: 'a1',
    reason: 'no rule matched',
  };
  const names = { ...NO_NAMES, users: { u1: 'Maya' } };
  it.each([
    ['who', {}, 'Maya editor'],
    ['who', { userId: 'u2' }, 'u2 editor'],
    ['who', { userId: undefined, role: 'anon' }, 'anon'],
    ['what', {}, 'update Article a1'],
    ['what', { recordId: undefined }, 'update Article'],
    ['reason', {}, 'no rule matched'],
    ['reason', { kind: 'admin' }, 'admin · no rule matched'],
    ['verdict', {}, undefined],
  ])('the cell %s of an entry with %j is %s', (column, more, text) => {
    expect(describeCell({ ...entry, ...more } as Entry, column, names)).toBe(text);
  });
});
