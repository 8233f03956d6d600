/** The counts and samples of a preview. */
import type { AuditEntry, Replay, ReplayChange } from '../../audit/index.ts';
import { decidingRule, describeResidual, type ResidualDescription } from '../../authz/decision/index.ts';
import { component, OneOf, Type } from '../../schemas/index.ts';
import { NAMED_POLICY, NAMED_RULE, RESIDUAL } from '../decisions/index.ts';
import { COUNT, ID, TEXT, TIMESTAMP } from '../schema-members.ts';
import type { ReplayedEntry } from './policy-preview-replay.ts';

/** Maximum number of samples of each change in a page. */
const SAMPLES = 20;

/** The members of a replayed decision. */
export const REPLAYED_MEMBERS = {
  effect: OneOf(['allow', 'deny', 'conditional', 'unknown'] as const, {
    description:
      '`conditional`: a list, or another decision without a record, that depends on the record. `unknown`: the decision depends on a value that the audit log did not keep.',
  }),
  reason: Type.Optional(Type.String({ description: 'Absent if the effect is `unknown`.' })),
  rule: Type.Optional({ ...NAMED_RULE, description: 'The deciding rule; otherwise the first rule that may allow.' }),
  policy: Type.Optional(NAMED_POLICY),
  when: Type.Optional(Type.String({ description: 'The condition on the record or on values that were not kept, as text.' })),
  residual: RESIDUAL.residual,
} as const;

const REPLAYED = component('admin.ReplayedDecision', Type.Object(REPLAYED_MEMBERS));

/** The schema of the decision in an audit entry, beside its replays. */
const RECORDED = component(
  'admin.RecordedDecision',
  Type.Object({ allowed: Type.Boolean(), reason: TEXT, ruleId: Type.Optional(TEXT), policyId: Type.Optional(TEXT) }),
);

/** The schema of the paths on which an unknown result depends. */
export const MISSING_PATHS = Type.Optional(Type.Array(TEXT, { description: 'Paths whose values the audit log did not keep.' }));
/** The schema of the choice to fill values that were not kept. */
export const FILL = Type.Optional(
  Type.Boolean({
    description:
      'If a decision depends on values that the audit log did not keep: take those of `user` and `resource` as they are stored today. Default: false.',
  }),
);
/** The schema of the paths that were filled. */
export const FILLED_PATHS = Type.Optional(Type.Array(TEXT, { description: 'Paths whose values are those of today.' }));

/** The schema of a sample: entries with the same change, caller role, resource, action and rules. */
const SAMPLE = component(
  'admin.PreviewSample',
  Type.Object({
    change: OneOf(['allowToDeny', 'denyToAllow', 'changed', 'unknown'] as const),
    role: TEXT,
    resource: TEXT,
    action: TEXT,
    count: Type.Integer({ minimum: 1, description: 'Number of decisions in the page with this change, role, resource, action and rules.' }),
    entry: Type.Object(
      { id: ID, at: TIMESTAMP, userId: Type.Optional(TEXT), recordId: Type.Optional(TEXT) },
      { description: 'One of the entries.' },
    ),
    recorded: RECORDED,
    live: Type.Optional(REPLAYED),
    draft: Type.Optional(REPLAYED),
    missing: MISSING_PATHS,
    filled: FILLED_PATHS,
  }),
);

/** The schema of the counts and samples of a page. */
export const TALLY = component(
  'admin.PolicyPreview',
  Type.Object({
    examined: Type.Integer({
      minimum: 0,
      description: 'Number of decisions. An entry of repeated denials counts as the number of denials that it records.',
    }),
    entries: Type.Integer({ minimum: 0, description: 'Number of entries that were replayed.' }),
    same: COUNT,
    allowToDeny: COUNT,
    denyToAllow: COUNT,
    changed: Type.Integer({ minimum: 0, description: 'Lists, and other decisions without a record, with another condition.' }),
    unknown: Type.Integer({ minimum: 0, description: 'Decisions that depend on values that the audit log did not keep.' }),
    filled: Type.Integer({ minimum: 0, description: 'Decisions among these that were made with values of today.' }),
    samples: Type.Array(SAMPLE, { description: `At most ${SAMPLES} for each change; none for decisions that are the same.` }),
  }),
);

/** A replayed decision as a response shows it. It may contain attribute values, so only admins may see it. */
export interface ReplaySummary extends Partial<ResidualDescription> {
  readonly effect: Replay['effect'];
  readonly reason?: string;
  readonly rule?: { readonly id: string; readonly description?: string | undefined };
  readonly policy?: { readonly id: string; readonly name: string };
}

/** Returns a replay as a response shows it. */
export function toReplaySummary({ decision: first, other, effect }: Replay): ReplaySummary {
  // The request is denied, or depends on values, in the state of the record in which it is not simply allowed.
  const decision = other !== undefined && first.effect === 'allow' ? other : first;
  const rule = decidingRule(decision);
  return {
    effect,
    ...(effect !== 'unknown' && { reason: decision.reason }),
    ...(rule !== undefined && {
      rule: { id: rule.id, description: rule.description },
      policy: { id: rule.policy.id, name: rule.policy.name },
    }),
    ...(decision.effect === 'allow-where' && describeResidual(decision.where)),
  };
}

/** The recorded decision of an entry, as a response shows it. */
type RecordedSummary = Pick<AuditEntry, 'allowed' | 'reason' | 'ruleId' | 'policyId'>;

function toRecordedSummary({ allowed, reason, ruleId, policyId }: AuditEntry): RecordedSummary {
  return { allowed, reason, ruleId, policyId };
}

/** Entries with the same change, role, resource, action and rules. */
interface Sample extends Pick<AuditEntry, 'role' | 'resource' | 'action'> {
  readonly change: Exclude<ReplayChange, 'same'>;
  count: number;
  readonly entry: Pick<AuditEntry, 'id' | 'at' | 'userId' | 'recordId'>;
  readonly recorded: RecordedSummary;
  readonly live?: ReplaySummary;
  readonly draft?: ReplaySummary;
  readonly missing?: readonly string[];
  readonly filled?: readonly string[];
}

/** Counts the changes of a page. */
export interface PreviewTally {
  add(replayed: ReplayedEntry): void;
  result(): Readonly<Record<ReplayChange | 'entries' | 'examined' | 'filled', number>> & { readonly samples: readonly Sample[] };
}

/** Creates an empty tally. Its memory is bounded by the number of samples. */
export function createTally(): PreviewTally {
  const counts = { entries: 0, examined: 0, same: 0, allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0, filled: 0 };
  const samples = new Map<string, Sample>();
  const groups = { allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0 };
  return {
    add(replayed) {
      const { entry, change, filled } = replayed;
      const decisions = decisionsOf(entry);
      counts.entries++;
      counts.examined += decisions;
      counts[change] += decisions;
      if (filled !== undefined) counts.filled += decisions;
      if (change === 'same') return;
      const key = keyOf(replayed);
      const known = samples.get(key);
      if (known !== undefined) known.count += decisions;
      else if (groups[change] < SAMPLES) {
        groups[change]++;
        samples.set(key, toSample(replayed, change, decisions));
      }
    },
    result: () => ({ ...counts, samples: [...samples.values()] }),
  };
}

/** Returns the number of decisions that an entry records. */
function decisionsOf({ kind, facts }: AuditEntry): number {
  const count = kind === 'repeat' ? facts?.['count'] : 1;
  return typeof count === 'number' ? count : 1;
}

function keyOf({ entry, change, live, draft }: ReplayedEntry): string {
  const rules = [live, draft].map((replay) => replay && toReplaySummary(replay).rule?.id);
  return JSON.stringify([change, entry.role, entry.resource, entry.action, ...rules, ...missingIn({ live, draft })]);
}

/** Returns the paths on which the unknown outcomes of an entry depend. */
function missingIn({ live, draft }: { readonly live?: Replay | undefined; readonly draft?: Replay | undefined }): readonly string[] {
  return [...new Set([live, draft].flatMap((replay) => (replay?.effect === 'unknown' ? replay.missing : [])))].sort();
}

function toSample({ entry, live, draft, filled }: ReplayedEntry, change: Sample['change'], count: number): Sample {
  const { id, at, userId, role, resource, action, recordId } = entry;
  const missing = missingIn({ live, draft });
  return {
    ...{ change, role, resource, action, count },
    entry: { id, at, userId, recordId },
    recorded: toRecordedSummary(entry),
    ...(live !== undefined && { live: toReplaySummary(live) }),
    ...(draft !== undefined && { draft: toReplaySummary(draft) }),
    ...(missing.length > 0 && { missing }),
    ...(filled !== undefined && { filled }),
  };
}
