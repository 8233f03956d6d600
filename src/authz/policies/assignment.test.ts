import { describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { parseRoleAssignment, parseUserAssignment } from './assignment.ts';

describe('readUserAssignment', () => {
  it('takes nothing at all', () => {
    expect(parseUserAssignment(undefined)).toEqual({ change: {}, issues: [] });
  });

  it('writes the expiry the one way', () => {
    const input = { expiresAt: '2030-01-01T00:00:00+02:00', isActive: false, context: { ticket: 7 }, assignedBy: 'boss' };
    expect(parseUserAssignment(input).change).toEqual({ ...input, expiresAt: '2029-12-31T22:00:00.000Z' });
  });

  it('takes an expiry away with null', () => {
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

describe('readRoleAssignment', () => {
  it('takes a priority', () => {
    expect(parseRoleAssignment({ priority: 900 }).change).toEqual({ priority: 900 });
  });

  it('refuses what only users have', () => {
    expect(parseRoleAssignment({ expiresAt: null, context: {} }).issues.map(({ path }) => path)).toEqual(['expiresAt', 'context']);
  });
});
