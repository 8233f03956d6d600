import { expect, it } from 'vitest';
import { nameUsers } from './finding-names.ts';
import type { Finding } from './policies.ts';

it('a finding names users instead of their ids, except those that were deleted', () => {
  const finding: Finding = {
    code: 'expired',
    level: 'warning',
    detail: 'each of 3 assignments (to users id-1, id-2, id-3) has expired',
    todo: 'revoke them',
    policy: { id: 'p', name: 'Editors' },
    users: ['id-1', 'id-2', 'id-3'],
  };
  const { detail } = nameUsers(finding, { 'id-1': 'Maya', 'id-2': "$& O'Neil", other: 'x' });
  expect(detail).toBe("each of 3 assignments (to users Maya, $& O'Neil, id-3) has expired");
});
