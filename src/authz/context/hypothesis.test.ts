import { describe, expect, it } from 'vitest';
import { SCOPE_PARTS } from '../../../test/policy-fixtures.ts';
import { OPEN } from '../../conditions/index.ts';
import { layOver } from './hypothesis.ts';

const stored = { ...SCOPE_PARTS, record: { id: 'a1', title: 'Hello', status: 'draft' }, recordId: 'a1' };

describe('layOver', () => {
  it('leaves everything as it is where nothing is said', () => {
    expect(layOver(stored, {})).toStrictEqual(stored);
  });

  it('puts what is said of the user in place of what is stored', () => {
    const { principal } = layOver(stored, { user: { id: 'u2', role: 'editor', department: 'culture' } });
    expect(principal).toMatchObject({ id: 'u2', role: 'editor', attributes: { department: 'culture', email: 'u1@example.com' } });
  });

  it('keeps id and role where they are no text', () => {
    expect(layOver(stored, { user: { id: 7, role: null } }).principal).toMatchObject({ id: 'u1', role: 'user' });
  });

  it('lays attributes over the record; its name is that of the resource', () => {
    const { record } = layOver(stored, { resource: { name: 'Article', status: 'published' } });
    expect(record).toStrictEqual({ id: 'a1', title: 'Hello', status: 'published' });
  });

  it('makes a record of attributes alone', () => {
    const parts = layOver({ ...stored, record: undefined, recordId: undefined }, { resource: { id: 'a2', status: 'draft' } });
    expect(parts).toMatchObject({ record: { id: 'a2', status: 'draft' }, recordId: 'a2' });
    expect(layOver({ ...stored, record: OPEN }, { resource: { status: 'draft' } }).record).toStrictEqual({ status: 'draft' });
  });

  it('moves the clock and the address', () => {
    expect(layOver(stored, { now: 5, ip: '::1' })).toMatchObject({ now: 5, origin: { method: 'GET', path: '/api/Article', ip: '::1' } });
  });
});
