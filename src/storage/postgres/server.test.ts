import { describe, expect, it } from 'vitest';
import { findServerProblems } from './server-checks.ts';

const FINE = {
  version: '16.4',
  number: '160004',
  fsync: 'on',
  fullPageWrites: 'on',
  encoding: 'UTF8',
  standby: 0,
  schema: 'public',
};

describe('a server', () => {
  it.each([
    ['that is fine', {}, []],
    ['of the oldest kind that is spoken to', { version: '14.0', number: '140000' }, []],
    ['that only speaks like PostgreSQL', { fsync: null, fullPageWrites: null }, []],
    ['that is too old', { version: '13.9', number: '130009' }, ['expected PostgreSQL 14 or newer, found 13.9']],
    ['that is a standby', { standby: 1 }, ['it is a hot standby']],
    ['without fsync', { fsync: 'off' }, ['fsync is off']],
    ['without full pages', { fullPageWrites: 'off' }, ['full_page_writes is off']],
    ['of another encoding', { encoding: 'LATIN1' }, ['expected a database with the encoding UTF8, found LATIN1']],
    ['without a schema', { schema: null }, ['there is no schema']],
    [
      'with everything wrong',
      { standby: 1, fsync: 'off', number: '90600', version: '9.6' },
      ['expected PostgreSQL 14', 'hot standby', 'fsync'],
    ],
  ])('%s', (_, facts, expected) => {
    expect(findServerProblems({ ...FINE, ...facts })).toEqual(expected.map((part) => expect.stringContaining(part)));
  });
});
