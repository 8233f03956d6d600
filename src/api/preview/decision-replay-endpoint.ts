import { type AuditEntry, hasSameRules, loadEntry, type Replay, type ReplayChange, withRecordedOutcome } from '../../audit/index.ts';
import { type Explanation, explain } from '../../authz/decision/index.ts';
import { type ApplicableRules, EMPTY_DRAFT } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, OneOf, Type } from '../../schemas/index.ts';
import { DRAFT, describeDraft, requireDraft } from '../access/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import {
  ENTRY,
  ENTRY_EXAMPLE,
  EXPLAINED,
  EXPLANATION_EXAMPLE,
  explainPast,
  loadComparedUsers,
  loadPastDecisions,
  USER_NAMES,
  WITH_USER_NAMES,
} from '../decisions/index.ts';
import { name, TEXT } from '../schema-members.ts';
import {
  type CaseKnowledge,
  createCaseScope,
  createPreview,
  type FramedCase,
  isFramed,
  loadCaseFill,
  type Preview,
  replayCase,
  toReplayCase,
  withTimeZones,
} from './policy-preview-replay.ts';
import { FILL, FILLED_PATHS, MISSING_PATHS, REPLAYED_MEMBERS, type ReplaySummary, toReplaySummary } from './policy-preview-samples.ts';

/** The schema of a replayed decision with its explanation. */
const EXPLAINED_REPLAY = component(
  'admin.ExplainedReplay',
  Type.Object({
    ...REPLAYED_MEMBERS,
    missing: MISSING_PATHS,
    ...EXPLAINED,
    trace: Type.Optional(EXPLAINED.trace),
    ties: Type.Optional(EXPLAINED.ties),
  }),
);

const REPLAY = component(
  'admin.DecisionReplay',
  Type.Object({
    entry: ENTRY,
    recorded: Type.Object(
      {
        ...EXPLAINED,
        trace: Type.Optional(EXPLAINED.trace),
        ties: Type.Optional(EXPLAINED.ties),
        warnings: Type.Optional(Type.Array(TEXT, { description: 'A warning if the trace differs from the recorded decision.' })),
      },
      { description: 'The explanation of the entry under the policies of its revision.' },
    ),
    live: EXPLAINED_REPLAY,
    draft: Type.Optional(EXPLAINED_REPLAY),
    change: Type.Optional(
      OneOf(['same', 'allowToDeny', 'denyToAllow', 'changed', 'unknown'] as const, { description: 'The change from `live` to `draft`.' }),
    ),
    filled: FILLED_PATHS,
  }),
);

const ALLOWED = {
  effect: 'allow',
  reason: 'allowed by rule "editors read every article" of policy "Editors"',
  rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'editors read every article' },
  policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
} as const;

/** The endpoint that decides the request of an audit entry again. */
export const decisionReplayEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/decisions/:id/replay',
    id: 'decisions.replay',
    tag: 'Admin decisions',
    summary: 'Decides a recorded request again, under the present policies and with a draft, and explains the decisions.',
    description:
      'The decisions use the time and the values of the audit entry. Only entries of kind `access` can be replayed: 409 for others.',
    params: Input({ id: name('Id of the entry: `X-Decision-Id` of the response.') }),
    query: Input({ names: WITH_USER_NAMES }),
    body: component('admin.ReplayQuestion', Input({ draft: DRAFT, fill: FILL })),
    bodyOptional: true,
    bodyExample: { draft: { removePolicies: ['0198c0de-0000-7000-8000-000000000001'] } },
    question: ({ draft, fill }) => ({ ...(fill === true && { fill }), ...describeDraft(draft) }),
    answers: {
      200: {
        description: 'The entry and the decisions.',
        schema: envelope(REPLAY, { names: Type.Optional(USER_NAMES) }),
        example: toSuccess({
          entry: ENTRY_EXAMPLE,
          recorded: EXPLANATION_EXAMPLE,
          live: { ...ALLOWED, ...EXPLANATION_EXAMPLE },
          draft: { effect: 'deny', reason: 'no rule matched', trace: [], ties: [] },
          change: 'allowToDeny',
        }),
      },
    },
    problems: [404, 409],
    async handle(admin) {
      const { draft: given, fill = false } = admin.body;
      const entry = await loadEntry(admin.tx, admin.params.id);
      if (entry === undefined) throw new Problem('DECISION_UNKNOWN', 'no decision has this id');
      if (entry.kind !== 'access')
        throw new Problem('DECISION_NOT_REPLAYED', `an entry of kind "${entry.kind}" is no decision on a request`);
      const draft = given === undefined ? EMPTY_DRAFT : await requireDraft(admin, given);
      const { live, draft: withDraft, change, filled } = await replayExplained(createPreview(admin, draft, fill), entry);
      const shown = given === undefined ? {} : { draft: withDraft, change };
      const recorded = await explainPast(admin, entry);
      const data = { entry, recorded, live, ...shown, ...(filled !== undefined && { filled }) };
      if (admin.query.names !== true) return respond(200, toSuccess(data));
      const users = await loadComparedUsers(admin.tx, admin.snapshot.user, [recorded, live, withDraft]);
      return respond(200, toSuccess(data, { names: { users } }));
    },
  }),
];

/** A replay with its explanation. Without the explanation if the entry cannot be replayed at all. */
type ExplainedReplay = ReplaySummary & Partial<Omit<Explanation, 'decision'>> & { readonly missing?: readonly string[] };

interface ExplainedReplays {
  readonly live: ExplainedReplay;
  readonly draft: ExplainedReplay;
  readonly change: ReplayChange;
  readonly filled?: readonly string[] | undefined;
}

const NOT_REPLAYED: ExplainedReplays = { live: { effect: 'unknown' }, draft: { effect: 'unknown' }, change: 'unknown' };

/** Replays an entry with everything that is known of its time, and explains both decisions. */
async function replayExplained(preview: Preview, entry: AuditEntry): Promise<ExplainedReplays> {
  const { tx, snapshot } = preview.admin;
  const selected = toReplayCase(preview, entry, await snapshot.assignments.of(tx, entry.userId));
  if (selected === undefined || !isFramed(selected)) return NOT_REPLAYED;
  const [found = selected] = await withTimeZones(tx, [selected]);
  const past = await loadPastDecisions(preview.admin, entry);
  const known: CaseKnowledge = { recorded: past.recordedPaths(entry), isPresent: past.areDecidedBy(entry, found.live) };
  const first = replayCase(found, known);
  const isUnknown = first.live?.effect === 'unknown' || first.draft?.effect === 'unknown';
  const used = preview.fill && isUnknown ? { ...known, fill: await loadCaseFill(preview, found) } : known;
  const { live, draft, change, filled } = used === known ? first : replayCase(found, used);
  const isSame = hasSameRules(found.live, found.draft);
  const explained = { found, known: used };
  return {
    live: explainReplay(live, found.live, explained),
    draft: explainReplay(draft, found.draft, { ...explained, known: isSame ? used : { ...used, isPresent: false } }),
    change: isSame ? 'same' : change,
    filled,
  };
}

interface ExplainInput {
  readonly found: FramedCase;
  readonly known: CaseKnowledge;
}

function explainReplay(replayed: Replay, applicable: ApplicableRules, { found, known }: ExplainInput): ExplainedReplay {
  const { entry } = found;
  const { decision: _, ...why } = explain(applicable, createCaseScope(found, known), { userId: entry.userId, role: entry.role });
  const replay = known.isPresent === true ? withRecordedOutcome(replayed, entry) : replayed;
  return { ...why, ...toReplaySummary(replay), ...(replay.effect === 'unknown' && { missing: replay.missing }) };
}
