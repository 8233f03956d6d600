/** The stream of the audit log: entries as they are committed, as Server-Sent Events. */
import { MAX_POSITION_TEXT, parsePositionText } from '../../audit/index.ts';
import type { Problem } from '../../errors.ts';
import { NO_CONTENT } from '../../request/index.ts';
import { Input, Type } from '../../schemas/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { TEXT } from '../schema-members.ts';
import { FOR_AUDITORS, QUERY_FILTERS, toEntryFilter } from './decision-filters.ts';

const MAX_SECONDS = 86_400;

const streamDecisions = adminEndpoint({
  method: 'GET',
  path: '/decisions/stream',
  id: 'decisions.stream',
  auditorAction: 'read',
  streams: 'answer',
  tag: 'Admin decisions',
  summary: 'Follows the audit log: sends entries as they are committed.',
  description: `Sends Server-Sent Events: \`entry\` with an entry; \`dropped\` with the \`count\` of entries that this reader did not receive because it did not keep up; \`end\` with the \`reason\`, after which the connection is closed. The \`id\` of an event is the position to resume after. ${FOR_AUDITORS}`,
  query: Input({
    ...QUERY_FILTERS,
    after: Type.Optional(
      Type.String({
        maxLength: MAX_POSITION_TEXT,
        description:
          'Resumes after the event with this `id`. The header `Last-Event-ID` takes precedence. Without both, the stream begins with the next entry.',
      }),
    ),
    seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_SECONDS,
        description: 'Ends the stream after this time. 0: after the entries that are committed. Default: no limit.',
      }),
    ),
  }),
  answers: { 200: { description: 'The events.', schema: NO_CONTENT, files: { 'text/event-stream': TEXT } } },
  problems: [429],
  async handle({ query, headers, origin, admin, auditor, tx, deps, admitAgain, verifyToken }) {
    const { after: given, seconds, ...filters } = query;
    const after = headers.lastEventId ?? given;
    const opened = {
      userId: admin.id,
      filter: toEntryFilter(filters, auditor),
      after: after === undefined || after === '' ? undefined : parsePositionText(after, tx.now),
      seconds,
      verifyToken,
      admitAgain,
      recordRefusedToken: (problem: Problem) => deps.identity.recordRefusedToken(problem, origin),
    };
    deps.streams.requireFree(admin.id);
    return {
      status: 200,
      // Some proxies would otherwise collect the events before they send them.
      headers: { 'x-accel-buffering': 'no' },
      body: undefined,
      contentType: 'text/event-stream; charset=utf-8',
      // The stream is opened when the response is sent, after the entry of the request is committed.
      pieces: deps.streams.open(opened),
    };
  },
});

/** The endpoint that streams the audit log. */
export const decisionStreamEndpoints: readonly AdminEndpoint[] = [streamDecisions];
