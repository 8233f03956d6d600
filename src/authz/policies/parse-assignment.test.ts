import { describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { parseRoleAssignment, parseUserAssignment } from './parse-assignment.ts';

describe('parseUserAssignment', () => {
  it('accepts no body', () => {
    expect(parseUserAssignment(undefined)).toEqual({ change: {}, issues: [] });
  });

  it('returns the expiry in canonical form', () => {
    const input = { expiresAt: '2030-01-01T00:00:00+02:00', isActive: false, context: { ticket: 7 }, assignedBy: 'boss' };
    expect(parseUserAssignment(input).change).toEqual({ ...input, expiresAt: '2029-12-31T22:00:00.000Z' });
  });

  it('removes an expiry with null', () => {
    expect(parseUserAssignment({ expiresAt: null }).change?.expiresAt).toBeNull();
  });

  const rows: readonly [input: Json, paths: readonly string[]][] = [
    [[], ['']],
    [{ expiresAt: '2030-02-30T00:00:00Z' }, ['expiresAt']],
    [{ expiresAt: 1893456000 }, ['expiresAt']],
    [{ expiresAt: '2030-01-01' }, ['expiresAt']],
    [{ priority: 3 }, ['priority']],
    [{ context: [], isActive: 1, assignedBy: '' }, ['isActive', 'assignedBy', 'context']],
    [{ context: { long: 'x'.repeat(10_001) } }, ['context']],
  ];
  it.each(rows)('refuses %j', (input, paths) => {
    const { change, issues } = parseUserAssignment(input);
    expect(change).toBeUndefined();
    expect(issues.map(({ path }) => path)).toEqual(paths);
  });
});

describe('parseRoleAssignment', () => {
  it('accepts a priority', () => {
    expect(parseRoleAssignment({ priority: 900 }).change).toEqual({ priority: 900 });
  });

  it('refuses members of user assignments', () => {
    expect(parseRoleAssignment({ expiresAt: null, context: {} }).issues.map(({ path }) => path)).toEqual(['expiresAt', 'context']);
  });
});
