import { expect, it } from 'vitest';
import { CHANGES_RECORDS, RULE_ACTIONS } from '../../actions.ts';
import { isProtected } from './admin-protection.ts';

const isProtectedFrom = (action: string): boolean => isProtected({ role: 'editor', resource: 'User', action });

it('the protection of admins applies to each rule action that changes records', () => {
  expect(RULE_ACTIONS.filter(isProtectedFrom)).toEqual(['create', 'update', 'delete', 'import']);
  expect(RULE_ACTIONS.filter(isProtectedFrom)).toEqual([...CHANGES_RECORDS]);
});

it.each([
  { role: 'admin', resource: 'User', action: 'update' },
  { role: 'editor', resource: 'Article', action: 'update' },
  { role: 'editor', resource: 'User', action: 'read' },
])('the protection of admins does not apply to $action of $resource by the role $role', (input) => {
  expect(isProtected(input)).toBe(false);
});
