/** Requests of the overview. */
import { queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';

/** The times that the figures count. */
export const TIMEFRAMES = ['24h', '7d', '30d'] as const;

/** A time that the figures count. */
export type Timeframe = (typeof TIMEFRAMES)[number];

const WEEK = 7 * 24 * 3_600_000;

/** The figures of the audit log. */
export function analyticsQuery(timeframe: Timeframe) {
  return queryOptions({
    queryKey: ['analytics', timeframe],
    queryFn: async ({ signal }) => {
      const query = { timeframe, include: 'series,topDenied,neverMatched' };
      return (await bodyOf(client.GET('/admin/api/policies-analytics', { params: { query }, signal }))).data;
    },
  });
}

/** Findings of the first policies. */
export const findingsQuery = queryOptions({
  queryKey: ['findings', 'overview'],
  queryFn: ({ signal }) => bodyOf(client.GET('/admin/api/policies-advice', { params: { query: {} }, signal })),
});

/** Assignments that expire within a week. */
export const expiringQuery = queryOptions({
  queryKey: ['assignments', 'expiring'],
  queryFn: async ({ signal }) => {
    const now = Date.now();
    const query = { expiresAfter: new Date(now).toISOString(), expiresBefore: new Date(now + WEEK).toISOString(), names: true, limit: 10 };
    return bodyOf(client.GET('/admin/api/assignments', { params: { query }, signal }));
  },
});
