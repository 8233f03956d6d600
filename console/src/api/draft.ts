/**
 * The present draft: changes of policies that an editor has not saved. It is kept in the session storage of the tab under `bailiwick-draft` for the
 * user who made it, in the form of the member `draft` of the API, so that the preview and the simulator can try it.
 */
import type { Schemas } from './client.ts';
import { readItem, type TabStorage } from './tab-storage.ts';

/** Changes of policies and assignments to try. A policy with an `id` changes a stored one; without `id` it is new. */
export type Draft = Schemas['admin.Draft'];

/** Item of the session storage that contains the draft and the id of its user as JSON. */
export const DRAFT_ITEM = 'bailiwick-draft';

/** Returns the draft of a user; undefined if there is none, or none that can be read. */
export function readDraft(userId: string, storage: TabStorage = sessionStorage): Draft | undefined {
  const item = readItem(DRAFT_ITEM, storage);
  return isObject(item) && item['userId'] === userId && isObject(item['draft']) ? item['draft'] : undefined;
}

/** Replaces the draft with one of a user. If the storage of the site is full, removes the draft and returns false. */
export function saveDraft(userId: string, draft: Draft, storage: TabStorage = sessionStorage): boolean {
  try {
    storage.setItem(DRAFT_ITEM, JSON.stringify({ userId, draft }));
    return true;
  } catch {
    // The former draft is no longer the present one.
    discardDraft(storage);
    return false;
  }
}

/** Removes the draft. */
export function discardDraft(storage: TabStorage = sessionStorage): void {
  storage.removeItem(DRAFT_ITEM);
}

/** Returns the names of the policies that a draft writes. A draft with mistakes may have policies without a name, or none that can be read. */
export function policiesOf({ policies }: Draft): readonly string[] {
  if (!Array.isArray(policies)) return [];
  return policies.map((policy: unknown) => Object(policy).name).filter((name) => typeof name === 'string' && name !== '');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
