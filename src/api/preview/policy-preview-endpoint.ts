import { RULE_ACTIONS } from '../../actions.ts';
import { type EntryFilter, searchEntries } from '../../audit/index.ts';
import { ACCESS_DRAFT, type AccessDraft } from '../../authz/policies/index.ts';
import type { Json } from '../../operators/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, described, Input, Type, type TypeOf } from '../../schemas/index.ts';
import { sql } from '../../sql.ts';
import { DRAFT_WARNING, describeDraft, findLostAccess, requireDraft } from '../access/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { BODY_FILTERS, toEntryFilter } from '../decisions/index.ts';
import { cursor, limit, PAGED } from '../schema-members.ts';
import { createPreview, replayEntries } from './policy-preview-replay.ts';
import { createTally, FILL, TALLY } from './policy-preview-samples.ts';

const PAGE = { max: 5000, fallback: 1000, of: 'audit entries' };
/** Numbers of entries that the first statement and a later one load. */
const FIRST_LOADED = 16;
const MAX_LOADED = 256;
/** Milliseconds above which the next statement loads fewer entries: a page ends only between two of them. */
const SLOW = 100;
/** Milliseconds after which a page ends early. */
const PAGE_TIME = 2000;

// Only decisions on requests to resources are replayed.
const { kind: _, adminReads: __, refreshes: ___, ...FILTERS } = BODY_FILTERS;
const FILTER = component('admin.PreviewFilter', Input(FILTERS, { description: 'The recorded decisions to replay. Default: all.' }));

/** Decisions on requests, and the numbers of repeated denials of requests. Numbers of repeated evaluations and refused tokens have other actions. */
const REPLAYABLE = sql`"kind" in ('access', 'repeat') and "action" in (${sql.join(RULE_ACTIONS)})`;

const BODY = component(
  'admin.PreviewQuestion',
  Input({
    draft: described<Json>(ACCESS_DRAFT),
    filter: Type.Optional(FILTER),
    fill: FILL,
    limit: limit(PAGE),
    cursor: cursor(),
  }),
);

const WARNINGS = Type.Optional(
  Type.Array(DRAFT_WARNING, {
    description: 'The access of admins that the draft would end. Only on the first page, and absent if there is none.',
  }),
);

const EDITORS = { rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'editors read every article' } };

/** The endpoint that replays the audit log under a draft. The CLI uses it too. */
export const policyPreview = adminEndpoint({
  method: 'POST',
  path: '/policies/preview',
  id: 'policies.preview',
  tag: 'Admin access tests',
  summary: 'Replays recorded decisions under the present policies and under these policies with a draft, newest first.',
  description:
    'Both decisions use the time and the values of the audit entry. Nothing is stored. A page may end early; the preview is complete only if `nextCursor` is absent.',
  body: BODY,
  bodyExample: {
    draft: { removePolicies: ['0198c0de-0000-7000-8000-000000000001'] },
    filter: { resource: 'Article', from: '2026-01-01' },
    limit: 5000,
  },
  question: ({ draft, filter, fill }) => ({ ...filter, ...(fill === true && { fill }), ...describeDraft(draft) }),
  beginsLong: true,
  answers: {
    200: {
      description: 'The number of decisions that stay the same, change, or are unknown.',
      schema: envelope(TALLY, { nextCursor: PAGED.nextCursor, warnings: WARNINGS }),
      example: toSuccess({
        ...{ entries: 120, examined: 120, same: 117, allowToDeny: 2, denyToAllow: 0, changed: 0, unknown: 1, filled: 0 },
        samples: [
          {
            ...{ change: 'allowToDeny', role: 'user', resource: 'Article', action: 'read', count: 2 },
            entry: {
              id: '0198c0de-0000-7000-8000-00000000000a',
              at: '2026-01-31T09:00:00.000Z',
              userId: '0198c0de-0000-7000-8000-00000000000b',
            },
            recorded: { allowed: true, reason: 'allowed by rule "editors read every article" of policy "Editors"' },
            live: {
              effect: 'allow',
              reason: 'allowed by rule "editors read every article" of policy "Editors"',
              ...EDITORS,
              policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
            },
            draft: { effect: 'deny', reason: 'no rule matched' },
          },
        ],
      }),
    },
  },
  async handle(admin) {
    const { body } = admin;
    const draft = await requireDraft(admin, body.draft);
    const warnings = body.cursor === undefined ? await findLostAccess(admin, draft) : [];
    const { data, next } = await previewPage(admin, draft, body);
    const extras = { ...(next !== undefined && { nextCursor: next }), ...(warnings.length > 0 && { warnings }) };
    return respond(200, toSuccess(data, extras));
  },
});

/** The endpoint of the preview. */
export const policyPreviewEndpoints: readonly AdminEndpoint[] = [policyPreview];

/** Replays one page of entries: up to `limit`, until the time of a page is over. */
async function previewPage(admin: AdminRequest, draft: AccessDraft, body: TypeOf<typeof BODY>) {
  const { filter = {}, fill = false, limit: maxEntries = PAGE.fallback } = body;
  const preview = createPreview(admin, draft, fill);
  const tally = createTally();
  const query: EntryFilter = { ...toEntryFilter(filter, undefined), where: REPLAYABLE };
  const end = performance.now() + PAGE_TIME;
  let next = body.cursor;
  for (let [left, size] = [maxEntries, FIRST_LOADED]; left > 0; ) {
    const began = performance.now();
    const page = await searchEntries(admin.tx, {
      ...query,
      limits: { milliseconds: end - began },
      limit: Math.min(size, left),
      cursor: next,
    });
    for (const replayed of await replayEntries(preview, page.entries)) tally.add(replayed);
    left -= page.entries.length;
    next = page.next;
    const now = performance.now();
    if (next === undefined || now > end) break;
    size = now - began > SLOW ? Math.max(1, size / 2) : Math.min(MAX_LOADED, size * 2);
  }
  return { data: tally.result(), next };
}
