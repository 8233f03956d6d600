import { expect, it } from 'vitest';
import type { PolicyHistoryItem } from '../../api/policies.ts';
import { hasEarlierRevision, previousRevision } from './previous-revision.ts';

const item = (revision: number, subject: 'policy' | 'assignment' = 'policy', change = 'updated') =>
  ({ revision, subject, change }) as unknown as PolicyHistoryItem;

it('the previous revision of a policy is neither a change of an assignment, nor a deletion, nor the current one', () => {
  const before = [item(12, 'assignment'), item(9), item(7, 'assignment'), item(6, 'policy', 'deleted'), item(4)];
  expect(previousRevision(before, 9)).toBe(4);
  expect(previousRevision(before.slice(0, 4), 9)).toBeUndefined();
});

it.each([
  ['2026-03-02T10:00:00.000Z', false],
  ['2026-03-02T10:00:00.001Z', true],
])('a policy that was changed at %s after its creation has an earlier revision: %s', (updatedAt, expected) => {
  expect(hasEarlierRevision({ createdAt: '2026-03-02T10:00:00.000Z', updatedAt })).toBe(expected);
});
