import { sentence } from './sentence.ts';

/** Texts of the overview. */
export const overviewTexts = {
  title: 'Overview',
  timeframes: { '24h': '24 hours', '7d': '7 days', '30d': '30 days' },
  timeframe: 'Time',
  tiles: { grants: 'Allowed', denials: 'Denied', policies: 'Active policies', findings: 'Findings' },
  ofPolicies: (total: number) => sentence`of ${total}`,
  series: { title: 'Decisions', label: 'Decisions over time. Select a part to see its entries.', allowed: 'allowed', denied: 'denied' },
  topDenied: {
    title: 'Denied most often',
    none: 'Nothing was denied.',
  },
  neverMatched: {
    title: 'Rules that decided nothing',
    none: 'Every active rule has decided a request.',
    more: (count: number) => sentence`and ${count} more`,
  },
  expiring: {
    title: 'Assignments that expire within 7 days',
    none: 'No assignment expires soon.',
  },
  recent: { title: 'Newest decisions', none: 'No request has been decided yet.' },
  health: { title: 'Health', ok: 'ready', unanswered: 'no answer' },
  unfinished: { title: 'Only administrators have access so far', action: 'Continue with the first steps' },
  partial: 'Counting took too long, so older entries are not counted. Choose a shorter time.',
} as const;
