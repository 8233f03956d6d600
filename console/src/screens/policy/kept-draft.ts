/**
 * The unsaved changes of a policy, as the tab keeps them: the session of a user can end, and a page can be loaded again, while they are not saved.
 * They are in the session storage, for the user who made them.
 */
import { readItem, type TabStorage } from '../../api/tab-storage.ts';
import { isRecord } from '../../components/condition/condition-json.ts';
import type { DraftJson } from './policy-draft.ts';

/** The unsaved changes of a policy. */
export interface KeptDraft {
  readonly userId: string;
  /** The id of the policy; undefined for a new one. */
  readonly policyId: string | undefined;
  /** The version that the changes began with; undefined for a new policy. */
  readonly version: number | undefined;
  readonly draft: DraftJson;
}

/** Item of the session storage that contains the changes as JSON. */
export const KEPT_ITEM = 'bailiwick-kept-draft';

/** Returns the kept changes of a policy; undefined if there are none. */
export function readKept(
  { userId, policyId }: Pick<KeptDraft, 'policyId'> & { readonly userId: string | undefined },
  storage: TabStorage = sessionStorage,
): KeptDraft | undefined {
  const kept = parseKept(readItem(KEPT_ITEM, storage));
  return kept !== undefined && kept.userId === userId && kept.policyId === policyId ? kept : undefined;
}

function parseKept(kept: unknown): KeptDraft | undefined {
  if (!isRecord(kept)) return undefined;
  const { userId, policyId, version, draft } = kept;
  const isPolicy = typeof policyId === 'string' ? typeof version === 'number' : policyId === undefined && version === undefined;
  return typeof userId === 'string' && isPolicy && isRecord(draft) ? (kept as unknown as KeptDraft) : undefined;
}

/** Keeps changes in place of the former ones. */
export function keepDraft(kept: KeptDraft, storage: TabStorage = sessionStorage): void {
  storage.setItem(KEPT_ITEM, JSON.stringify(kept));
}

/** Removes the kept changes. */
export function discardKept(storage: TabStorage = sessionStorage): void {
  storage.removeItem(KEPT_ITEM);
}
