/**
 * Replays audit entries under the present policies and under these policies with a draft. The policies at the revision of an entry are loaded
 * only if the outcome depends on a value that the entry does not have: they show whether the value was missing or was not kept.
 */
import { LRUCache } from 'lru-cache';
import { ACTIONS, type RuleAction } from '../../actions.ts';
import {
  type AuditEntry,
  compareReplays,
  createReplayFrame,
  createReplayScope,
  dependsOnTimeZone,
  hasSameRules,
  isCutOff,
  loadTimeZones,
  type Replay,
  type ReplayChange,
  type ReplayFrame,
  type ReplayKnowledge,
  type ReplayScope,
  replayEntry,
  withRecordedOutcome,
} from '../../audit/index.ts';
import {
  type AccessDraft,
  type ApplicableRules,
  applicableRules,
  applyDraft,
  draftAssignments,
  NO_ASSIGNMENTS,
  type PolicySnapshot,
  type UserAssignment,
} from '../../authz/policies/index.ts';
import { getOrCreate } from '../../memoize.ts';
import { loadUserPoliciesAt, type Transaction } from '../../storage/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import { loadPastDecisions, type PastDecisions } from '../decisions/index.ts';
import { loadFill } from './decision-replay-fill.ts';

/** The state of a preview: the policies to compare, and the frames of the resources whose entries were replayed. */
export interface Preview {
  readonly admin: Pick<AdminRequest, 'tx' | 'snapshot' | 'deps'>;
  readonly draft: AccessDraft;
  /** The policies with the draft. */
  readonly policies: PolicySnapshot;
  /** True if values that were not kept are taken from the records and users of today. */
  readonly fill: boolean;
  /** Frames by resource; undefined for a resource without a definition. */
  readonly frames: Map<string, ReplayFrame | undefined>;
  /** Findings about past decisions, by caller and revision. */
  readonly past: LRUCache<string, PastDecisions>;
}

/** Maximum number of past policies and assignments in memory. */
const MAX_PAST = 20_000;

/** Creates the state of a preview. */
export function createPreview(admin: Preview['admin'], draft: AccessDraft, fill: boolean): Preview {
  return { admin, draft, policies: applyDraft(admin.snapshot.policies, draft), fill, frames: new Map(), past: createPastCache() };
}

function createPastCache(): Preview['past'] {
  return new LRUCache({ maxSize: MAX_PAST, sizeCalculation: ({ size }) => size });
}

/** The result of one entry. */
export interface ReplayedEntry {
  readonly entry: AuditEntry;
  readonly change: ReplayChange;
  /** Absent if the rules are the same, or if the entry cannot be replayed at all. */
  readonly live?: Replay;
  readonly draft?: Replay;
  /** Paths whose values were taken from the records and users of today. */
  readonly filled?: readonly string[];
}

/** An entry with the rules that apply to its request now. */
export interface ReplayCase {
  readonly entry: AuditEntry;
  readonly live: ApplicableRules;
  readonly draft: ApplicableRules;
  /** Undefined if the resource has no definition any more. */
  readonly frame: ReplayFrame | undefined;
  /** The time zone of the decision; absent if no rule depends on it, or if it was not recorded. */
  readonly timeZone?: string | undefined;
}

/** Replays entries. The results are not in the order of the entries. */
export async function replayEntries(preview: Preview, entries: readonly AuditEntry[]): Promise<readonly ReplayedEntry[]> {
  const { tx, snapshot } = preview.admin;
  const userIds = new Set(entries.map(({ userId }) => userId).filter((userId) => userId !== undefined));
  const assignmentsOf = await snapshot.assignments.ofEach(tx, [...userIds]);
  const replayed: ReplayedEntry[] = [];
  const cases: FramedCase[] = [];
  for (const entry of entries) {
    // The first entry of a resource and an action collects the rules of its role, which takes milliseconds if the role has thousands of policies.
    await tx.checkTime();
    const assignments = entry.userId === undefined ? NO_ASSIGNMENTS : assignmentsOf(entry.userId);
    const found = toReplayCase(preview, entry, assignments);
    if (found === undefined) replayed.push({ entry, change: 'unknown' });
    else if (hasSameRules(found.live, found.draft)) replayed.push({ entry, change: 'same' });
    else if (!isFramed(found)) replayed.push({ entry, change: 'unknown' });
    else cases.push(found);
  }
  return [...replayed, ...(await replayCases(preview, cases))];
}

/** Replays the entries whose rules differ. */
async function replayCases(preview: Preview, cases: readonly FramedCase[]): Promise<readonly ReplayedEntry[]> {
  const { tx } = preview.admin;
  const replayed: ReplayedEntry[] = [];
  const undecided: FramedCase[] = [];
  for (const each of await withTimeZones(tx, cases)) {
    await tx.checkTime();
    const result = replayCase(each, {});
    if (result.change === 'unknown') undecided.push(each);
    else replayed.push(result);
  }
  return [...replayed, ...(await replayUndecided(preview, undecided))];
}

/** Adds the time zone to the cases whose rules depend on it. */
export async function withTimeZones(tx: Transaction, cases: readonly FramedCase[]): Promise<readonly FramedCase[]> {
  const zoned = cases.filter(({ live, draft }) => dependsOnTimeZone(live) || dependsOnTimeZone(draft));
  if (zoned.length === 0) return cases;
  const timeZones = await loadTimeZones(
    tx,
    zoned.map(({ entry }) => entry),
  );
  return cases.map((each) => ({ ...each, timeZone: timeZones.get(each.entry.id) }));
}

/** Selects the rules for the request of an entry; undefined if the entry does not name the whole request. */
export function toReplayCase(preview: Preview, entry: AuditEntry, assignments: readonly UserAssignment[]): ReplayCase | undefined {
  const { snapshot } = preview.admin;
  const { userId, role, resource: name } = entry;
  const action: RuleAction | undefined = ACTIONS.get(entry.action)?.decides;
  if (action === undefined || isCutOff(entry)) return undefined;
  const request = { role, resource: name, action, now: Date.parse(entry.at) };
  const frame = getOrCreate(preview.frames, name, () => {
    const resource = snapshot.definitions.get(name);
    return resource && createReplayFrame(resource, snapshot.definitions);
  });
  return {
    entry,
    frame,
    live: applicableRules(snapshot.policies, { ...request, assignments }),
    draft: applicableRules(preview.policies, { ...request, assignments: draftAssignments(preview.draft, userId, assignments) }),
  };
}

/** A case whose resource has a definition. */
export type FramedCase = ReplayCase & { readonly frame: ReplayFrame };

/** Returns true if the resource of an entry has a definition. */
export function isFramed(found: ReplayCase): found is FramedCase {
  return found.frame !== undefined;
}

/** Replays an entry under the present policies and with the draft, and compares the replays. */
export function replayCase(
  found: FramedCase,
  { isPresent, ...known }: CaseKnowledge,
): Required<Pick<ReplayedEntry, 'live' | 'draft'>> & ReplayedEntry {
  const { entry, live, draft } = found;
  const scope = createCaseScope(found, known);
  const before = replayEntry(entry, live, scope);
  const after = replayEntry(entry, draft, scope);
  const filled = scope.filled.size === 0 ? {} : { filled: [...scope.filled] };
  const change = compareReplays(before, after);
  if (change !== 'unknown' || isPresent !== true) return { entry, change, live: before, draft: after, ...filled };
  const recorded = withRecordedOutcome(before, entry);
  return { entry, change: compareReplays(recorded, after), live: recorded, draft: after, ...filled };
}

/** Creates the scope of both decisions on an entry. */
export function createCaseScope({ entry, frame, live, draft, timeZone }: FramedCase, known: CaseKnowledge): ReplayScope {
  return createReplayScope(entry, frame, { ...known, timeZone, rules: [live, draft] });
}

/** Knowledge of the past decision of an entry. */
export interface CaseKnowledge extends Pick<ReplayKnowledge, 'recorded' | 'fill'> {
  /** True if the present policies have decided the entry, so that its outcome is theirs. */
  readonly isPresent?: boolean;
}

/** Replays entries again with what the policies of their time show. Entries of one caller and revision share these policies. */
async function replayUndecided(preview: Preview, cases: readonly FramedCase[]): Promise<readonly ReplayedEntry[]> {
  const { tx } = preview.admin;
  const replayed: ReplayedEntry[] = [];
  const groups = Map.groupBy(cases, ({ entry: { kind, epoch, role, userId } }) => JSON.stringify([kind, epoch, role, userId]));
  for (const [key, same] of groups) {
    await tx.checkTime();
    const [{ entry: first }] = same as [FramedCase];
    // An entry of repeated denials has no values of its own.
    const past = first.kind === 'repeat' ? undefined : await findPast(preview, first, key);
    for (const each of same) {
      const { entry, live } = each;
      const known = past && { recorded: past.recordedPaths(entry), isPresent: past.areDecidedBy(entry, live) };
      const result = replayCase(each, known ?? {});
      replayed.push(result.change === 'unknown' && preview.fill ? await replayFilled(preview, each, known) : result);
    }
  }
  return replayed;
}

/** Finds or loads the policies of an entry. Callers without assignments of their own share those of their role. */
async function findPast(preview: Preview, entry: AuditEntry, key: string): Promise<PastDecisions> {
  const known = preview.past.get(key);
  if (known !== undefined) return known;
  const { tx, snapshot } = preview.admin;
  const { epoch, role, userId } = entry;
  const isOfRole = userId !== undefined && epoch !== snapshot.revision.number && (await loadUserPoliciesAt(tx, epoch, userId)).length === 0;
  const roleKey = JSON.stringify([epoch, role]);
  const ofRole = isOfRole ? preview.past.get(roleKey) : undefined;
  const past = ofRole ?? (await loadPastDecisions(preview.admin, isOfRole ? { ...entry, userId: undefined } : entry));
  if (isOfRole) preview.past.set(roleKey, past);
  preview.past.set(key, past, isOfRole ? { size: 1 } : {});
  return past;
}

/** Replays an entry with values of today for those that were not kept. */
async function replayFilled(preview: Preview, each: FramedCase, known: CaseKnowledge | undefined): Promise<ReplayedEntry> {
  return replayCase(each, { ...known, fill: await loadCaseFill(preview, each) });
}

/** Loads the function that fills the values of an entry. */
export function loadCaseFill({ admin }: Preview, { entry, frame, live, draft }: FramedCase): ReturnType<typeof loadFill> {
  return loadFill(admin, { entry, frame, referencePaths: [...live.referencePaths, ...draft.referencePaths] });
}
