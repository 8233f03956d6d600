/**
 * The unsaved changes of a policy, as the tab keeps them: the session of a user can end, and a page can be loaded again, while they are not saved.
 * They are in the session storage, for the user who made them.
 */
import { KEPT_ITEMS, readItem, type TabStorage } from '../../api/tab-storage.ts';
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

/** Item of the session storage that contains the changes of several policies as JSON, the newest first. */
export const KEPT_ITEM = KEPT_ITEMS.policies;

/** Maximum number of policies whose changes are kept, and of the characters of all of them: browsers store about five million for a site. */
const MAX_POLICIES = 5;
const MAX_SIZE = 2_000_000;

/** The policy of an editor, and its user. */
type KeptSubject = Pick<KeptDraft, 'policyId'> & { readonly userId: string | undefined };

/** Returns the kept changes of a policy; undefined if there are none. */
export function readKept(subject: KeptSubject, storage: TabStorage = sessionStorage): KeptDraft | undefined {
  return readAll(storage).find((kept) => isOf(kept, subject));
}

/** Keeps the changes of a policy in place of its former ones. The oldest ones of others make room. Returns false if they are too large. */
export function keepDraft(kept: KeptDraft, storage: TabStorage = sessionStorage): boolean {
  // Those of other users are not kept longer: the tab has another user now.
  const others = readAll(storage).filter((each) => each.userId === kept.userId && !isOf(each, kept));
  const drafts = [kept, ...others].slice(0, MAX_POLICIES);
  return drafts.some((_, removed) => tryWrite(drafts.slice(0, drafts.length - removed), storage));
}

/** Removes the kept changes of a policy. */
export function discardKept(subject: KeptSubject, storage: TabStorage = sessionStorage): void {
  const all = readAll(storage);
  const others = all.filter((kept) => !isOf(kept, subject));
  if (others.length < all.length) write(others, storage);
}

/** Returns false if the changes are too large, or the storage is full. */
function tryWrite(kept: readonly KeptDraft[], storage: TabStorage): boolean {
  if (JSON.stringify(kept).length > MAX_SIZE) return false;
  try {
    write(kept, storage);
    return true;
  } catch {
    // The storage of the site is full. The editor says so.
    return false;
  }
}

function write(kept: readonly KeptDraft[], storage: TabStorage): void {
  if (kept.length === 0) storage.removeItem(KEPT_ITEM);
  else storage.setItem(KEPT_ITEM, JSON.stringify(kept));
}

function readAll(storage: TabStorage): readonly KeptDraft[] {
  const all = readItem(KEPT_ITEM, storage);
  return Array.isArray(all) ? all.filter(isKept) : [];
}

function isKept(kept: unknown): kept is KeptDraft {
  if (!isRecord(kept)) return false;
  const { userId, policyId, version, draft } = kept;
  const isPolicy = typeof policyId === 'string' ? typeof version === 'number' : policyId === undefined && version === undefined;
  return typeof userId === 'string' && isPolicy && isRecord(draft);
}

function isOf(kept: KeptDraft, { userId, policyId }: KeptSubject): boolean {
  return kept.userId === userId && kept.policyId === policyId;
}
