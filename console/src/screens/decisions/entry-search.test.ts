import { describe, expect, it } from 'vitest';
import { type EntryLookups, findEntries } from './entry-search.ts';

const ID = '01a21e46-d091-735d-80ca-d29a1a0b1a38';

function known(found: { readonly requestId?: string; readonly recordId?: string; readonly entry?: string }): EntryLookups {
  return { has: async (member, value) => found[member] === value, isEntry: async (id) => found.entry === id };
}

describe('findEntries', () => {
  const all = { range: 'all', adminReads: true, refreshes: true };

  it.each([
    ['a request', ` ${ID} `, { requestId: ID, recordId: ID }, { range: 'all', requestId: ID }],
    ['a request with an id of its caller', 'trace-7', { requestId: 'trace-7' }, { range: 'all', requestId: 'trace-7' }],
    ['a record', ID, { recordId: ID, entry: ID }, { ...all, recordId: ID }],
    ['an entry', ID, { entry: ID }, { entry: ID }],
    ['nothing', ID, {}, undefined],
    ['no entry, which only an id can be', 'trace-8', { entry: 'trace-8' }, undefined],
    ['an IPv4 address', '127.0.0.1', {}, { ...all, ip: '127.0.0.1' }],
    ['an IPv6 address', '2001:db8::1', {}, { ...all, ip: '2001:db8::1' }],
    ['a mapped address', '::ffff:10.0.0.1', {}, { ...all, ip: '::ffff:10.0.0.1' }],
    ['no address', '10.0.0', {}, undefined],
  ] as const)('finds %s: %s', async (_, text, found, expected) => {
    expect(await findEntries(text, known(found))).toEqual(expected);
  });
});
