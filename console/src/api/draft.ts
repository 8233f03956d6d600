/**
 * The present draft: changes of policies that an editor has not saved. It is kept in the session storage of the tab under
 * `bailiwick-draft`, in the form of the member `draft` of the API, so that the preview and the simulator can try it.
 */
import type { Schemas } from './client.ts';
import { readItem, type TabStorage } from './tab-storage.ts';

/** Changes of policies and assignments to try. A policy with an `id` changes a stored one; without `id` it is new. */
export type Draft = Schemas['admin.Draft'];

/** Item of the session storage that contains the draft as JSON. */
export const DRAFT_ITEM = 'bailiwick-draft';

/** Returns the draft; undefined if there is none, or none that can be read. */
export function readDraft(storage: TabStorage = sessionStorage): Draft | undefined {
  const draft = readItem(DRAFT_ITEM, storage);
  return typeof draft === 'object' && draft !== null && !Array.isArray(draft) ? draft : undefined;
}

/** Replaces the draft. */
export function saveDraft(draft: Draft, storage: TabStorage = sessionStorage): void {
  storage.setItem(DRAFT_ITEM, JSON.stringify(draft));
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
