/** Compares policies of files with those in force, and replays recorded decisions under both. The CLI uses it. Nothing is stored. */
import { DEFAULT_PRIORITY, MAX_DRAFT_ASSIGNMENTS, MAX_DRAFT_POLICIES, type PolicyDifference } from '../../authz/policies/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { loadActiveAssignments, loadPoliciesByName, type Transaction } from '../../storage/index.ts';
import { type AdminDeps, runAsAdmin } from '../admin/index.ts';
import { applyPoliciesFromCommand, type PolicyOfFile } from '../policies/index.ts';
import { policyPreview } from './policy-preview-endpoint.ts';

/** The policies of files to compare, and the decisions to replay. */
export interface ComparedPolicies {
  /** Email of the admin whom audit entries name. */
  readonly as: string;
  readonly policies: readonly PolicyOfFile[];
  /** True if the policies that files managed and no longer contain count as deleted. */
  readonly prune: boolean;
  /** The filters of the preview, such as `from`. */
  readonly filter: Readonly<Record<string, string>>;
  /** Maximum number of entries to replay, newest first. */
  readonly maxEntries: number;
}

/** The differences, and the replayed decisions. */
export interface PolicyComparison {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Assignments to roles that are missing. */
  readonly assigned: number;
  readonly changes: readonly { readonly name: string; readonly result: string; readonly differences: readonly PolicyDifference[] }[];
  /** The assignments to roles that would be created or changed, in words. */
  readonly assignments: readonly { readonly policy: string; readonly role?: string; readonly summary: string }[];
  /** The policies that files manage and no longer contain. */
  readonly orphanedPolicies: readonly { readonly id: string; readonly name: string; readonly file: string }[];
  /** The assignments that the files of their policies no longer list. */
  readonly orphanedRoles: readonly { readonly policy: string; readonly role: string }[];
  /** The changes in words; the last line has the numbers. */
  readonly lines: readonly string[];
  /** Undefined if nothing differs, or if more policies or assignments differ than a draft can have. */
  readonly replay: ReplayTally | undefined;
}

/** Decisions that change in the same way. */
export interface ReplaySample {
  readonly change: 'allowToDeny' | 'denyToAllow' | 'changed' | 'unknown';
  /** Number of decisions. */
  readonly count: number;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  /** The decision under the policies in force. */
  readonly live?: ReplayedDecision;
  /** The decision under the compared policies. */
  readonly draft?: ReplayedDecision;
  /** Paths whose values the audit log did not keep. */
  readonly missing?: readonly string[];
}

interface ReplayedDecision {
  readonly effect: string;
  readonly reason?: string;
  readonly rule?: { readonly id: string };
}

/** Numbers of replayed decisions, with samples of those that change. */
export interface ReplayTally {
  readonly examined: number;
  readonly same: number;
  readonly allowToDeny: number;
  readonly denyToAllow: number;
  readonly changed: number;
  readonly unknown: number;
  readonly samples: readonly ReplaySample[];
  /** True if older decisions were not replayed. */
  readonly isPartial: boolean;
}

const COUNTS = ['examined', 'same', 'allowToDeny', 'denyToAllow', 'changed', 'unknown'] as const;
const PAGE_ENTRIES = 5000;
const MAX_SAMPLES = 50;

/** Compares policies with those in force. @throws Problem as an import of the policies does */
export async function comparePolicies(deps: AdminDeps, compared: ComparedPolicies): Promise<PolicyComparison> {
  const { as, policies, prune } = compared;
  const applied = await applyPoliciesFromCommand(deps, { as, policies, orphans: prune ? 'delete' : 'keep', dryRun: true });
  const { adopted: _, ...result } = applied;
  const removed = prune ? { policies: result.orphanedPolicies, roles: result.orphanedRoles } : { policies: [], roles: [] };
  if (result.created + result.updated + result.assigned + removed.policies.length + removed.roles.length === 0)
    return { ...result, replay: undefined };
  const changed = new Set(result.changes.map(({ name }) => name));
  const draft = await toDraft(deps, { policies: policies.map(({ policy }) => policy), changed, removed });
  if (draft === undefined) return { ...result, replay: undefined };
  const load = async (page: JsonObject): Promise<PreviewPage> => {
    return runAsAdmin(deps, policyPreview, { as, body: { ...page, draft, filter: compared.filter } });
  };
  return { ...result, replay: await replayPages(load, compared.maxEntries) };
}

/** A page of the preview. */
export interface PreviewPage {
  readonly data: Omit<ReplayTally, 'isPartial'> & { readonly entries: number };
  readonly nextCursor?: string | undefined;
}

/** Replays page by page, and adds the counts. Of the samples, it returns the most frequent ones. */
export async function replayPages(load: (page: JsonObject) => Promise<PreviewPage>, maxEntries: number): Promise<ReplayTally> {
  const total: Record<(typeof COUNTS)[number], number> = { examined: 0, same: 0, allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0 };
  const samples = new Map<string, ReplaySample>();
  let cursor: string | undefined;
  let left = maxEntries;
  do {
    const limit = Math.min(PAGE_ENTRIES, left);
    const { data, nextCursor } = await load({ limit, ...(cursor !== undefined && { cursor }) });
    for (const name of COUNTS) total[name] += data[name];
    for (const sample of data.samples) {
      const key = toSampleKey(sample);
      samples.set(key, { ...sample, count: sample.count + (samples.get(key)?.count ?? 0) });
    }
    left -= data.entries;
    cursor = nextCursor;
  } while (cursor !== undefined && left > 0);
  const byCount = [...samples.values()].sort((a, b) => b.count - a.count);
  return { ...total, samples: byCount.slice(0, MAX_SAMPLES), isPartial: cursor !== undefined };
}

/** Returns a key that is equal for samples with the same change, role, resource, action and rules, which several pages may have. */
function toSampleKey({ change, role, resource, action, live, draft, missing }: ReplaySample): string {
  return JSON.stringify([change, role, resource, action, live?.rule?.id, draft?.rule?.id, missing]);
}

/** The policies of files, and those that change. */
interface DraftedPolicies {
  readonly policies: readonly JsonObject[];
  /** The names of the policies that are created or changed. */
  readonly changed: ReadonlySet<string>;
  readonly removed: {
    readonly policies: readonly { readonly id: string }[];
    readonly roles: readonly { readonly policy: string; readonly role: string }[];
  };
}

/**
 * Returns the draft of the policies that differ, and of all assignments to roles; undefined if a draft cannot have as many. An inactive assignment
 * of a file removes the stored one.
 */
async function toDraft(deps: AdminDeps, { policies, changed, removed }: DraftedPolicies): Promise<JsonObject | undefined> {
  const names = policies.map(({ name }) => String(name));
  const { ids, assigned } = await deps.database.transaction((tx) => loadStored(tx, names));
  const written = policies.filter(({ name }) => changed.has(String(name)));
  const draftId = (name: string): string => ids.get(name) ?? `draft:${written.findIndex((policy) => policy['name'] === name)}`;
  const listed = policies.flatMap(({ name, roles }) =>
    (Array.isArray(roles) ? (roles as readonly JsonObject[]) : []).map((role) => ({ ...role, policyId: draftId(String(name)) })),
  );
  const [inactive, active] = [listed.filter(isInactive), listed.filter((each) => !isInactive(each))];
  const assignments = active.map(({ isActive: _, assignedBy: __, ...assignment }: JsonObject) => ({
    // Without it, a draft keeps the stored priority.
    priority: DEFAULT_PRIORITY,
    ...assignment,
  }));
  const ended = [...removed.roles.map(({ policy, role }) => ({ policyId: draftId(policy), role })), ...inactive];
  const removeAssignments = ended.filter((each) => assigned.has(toKey(each))).map(({ policyId, role }: JsonObject) => ({ policyId, role }));
  const [most, mostAssignments] = [
    Math.max(written.length, removed.policies.length),
    Math.max(assignments.length, removeAssignments.length),
  ];
  if (most > MAX_DRAFT_POLICIES || mostAssignments > MAX_DRAFT_ASSIGNMENTS) return undefined;
  return {
    policies: written.map(({ roles: _, ...policy }) => ({ ...policy, ...idOf(ids.get(String(policy['name']))) })),
    assignments,
    removePolicies: removed.policies.map(({ id }) => id),
    removeAssignments: removeAssignments as readonly Json[],
  };
}

/** Loads the ids of the policies with these names by name, and the keys of their active assignments to roles. */
async function loadStored(
  tx: Transaction,
  names: readonly string[],
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly assigned: ReadonlySet<string> }> {
  const stored = await loadPoliciesByName(tx, names);
  const byPolicy = await loadActiveAssignments(
    tx,
    stored.map(({ id }) => id),
    { limit: 0 },
  );
  return {
    ids: new Map(stored.map(({ name, id }) => [name, id])),
    assigned: new Set([...byPolicy.values()].flatMap(({ roles }) => roles.map(({ policyId, role }) => toKey({ policyId, role })))),
  };
}

function toKey({ policyId, role }: { readonly policyId?: Json | undefined; readonly role?: Json | undefined }): string {
  return JSON.stringify([policyId, role]);
}

function isInactive({ isActive }: JsonObject): boolean {
  return isActive === false;
}

function idOf(id: string | undefined): { readonly id?: string } {
  return id === undefined ? {} : { id };
}
