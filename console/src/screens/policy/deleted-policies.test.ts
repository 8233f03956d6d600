import { describe, expect, it } from 'vitest';
import type { PolicyHistoryItem } from '../../api/policies.ts';
import { lastingDeletions } from './deleted-policies.ts';

const item = (id: string, revision: number, change: PolicyHistoryItem['change'], subject: PolicyHistoryItem['subject'] = 'policy') => ({
  ...{ policy: { id }, revision, change, subject },
  ...{ at: 'then', summary: '' },
});

describe('lastingDeletions', () => {
  it('returns the last deletion of each policy that does not exist, and none of assignments', () => {
    const again = [item('a', 5, 'deleted'), item('a', 4, 'restored'), item('a', 3, 'deleted')];
    const restored = [item('b', 7, 'restored'), item('b', 6, 'deleted')];
    const ended = [item('c', 9, 'deleted', 'assignment'), item('c', 9, 'deleted'), item('c', 8, 'created', 'assignment')];
    expect([...lastingDeletions([...ended, ...restored, ...again])]).toEqual([ended[1], again[0]]);
  });
});
