import { describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { parseRoleAssignment, parseUserAssignment } from './parse-assignment.ts';

describe('parseUserAssignment', () => {
  it('accepts an empty assignment', () => {
    expect(parseUserAssignment({})).toEqual({ change: {}, issues: [] });
  });

  it('returns the expiry of an assignment in canonical form', () => {
    const input = { expiresAt: '2030-01-01T00:00:00+02:00', isActive: false, context: { ticket: 7 }, assignedBy: 'boss' };
    expect(parseUserAssignment(input).change).toEqual({ ...input, expiresAt: '2029-12-31T22:00:00.000Z' });
  });

  it('removes an expiry with null', () => {
    expect(parseUserAssignment({ expiresAt: null }).change?.expiresAt).toBeNull();
  });

  const rows: readonly [input: Json, issues: readonly string[]][] = [
    [[], [' type']],
    [{ expiresAt: '2030-02-30T00:00:00Z' }, ['expiresAt format']],
    [{ expiresAt: 1893456000 }, ['expiresAt type']],
    [{ expiresAt: '2030-01-01' }, ['expiresAt format']],
    [{ priority: 3 }, ['priority unknown']],
    [{ context: [], isActive: 1, assignedBy: ' ' }, ['context type', 'isActive type', 'assignedBy tooShort']],
    [{ context: { long: 'x'.repeat(10_001) }, isActive: 1 }, ['isActive type', 'context tooLong']],
    [{ assignedBy: 'two\nlines' }, ['assignedBy characters']],
    [{ assignedBy: 'x'.repeat(201) }, ['assignedBy tooLong']],
  ];
  it.each(rows)('refuses the assignment %j', (input, issues) => {
    const parsed = parseUserAssignment(input);
    expect(parsed.change).toBeUndefined();
    expect(parsed.issues.map(({ path, code }) => `${path} ${code}`).toSorted()).toEqual(issues.toSorted());
  });
});

describe('parseRoleAssignment', () => {
  it('accepts a priority of an assignment to a role', () => {
    expect(parseRoleAssignment({ priority: 900 }).change).toEqual({ priority: 900 });
  });

  it('refuses members of user assignments in an assignment to a role', () => {
    const { change, issues } = parseRoleAssignment({ expiresAt: null, context: {} });
    expect(change).toBeUndefined();
    expect(issues.map(({ path, code }) => `${path} ${code}`)).toEqual(['expiresAt unknown', 'context unknown']);
  });

  it('refuses a priority that does not fit its column', () => {
    expect(parseRoleAssignment({ priority: 1_000_000_001 }).issues).toMatchObject([{ path: 'priority', code: 'range' }]);
  });

  it('stores a priority of minus zero as zero', () => {
    expect(Object.is(parseRoleAssignment({ priority: -0 }).change?.priority, 0)).toBe(true);
  });
});
