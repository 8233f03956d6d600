/**
 * The policies in force: the policy store, with the snapshot of the current revision, and the cache of user assignments.
 *
 * It loads policies and never decides. `decision/` decides, `policies/` selects the rules that apply.
 * Begin with `policy-store.ts`.
 */
export type { UserAssignments } from './assignment-cache.ts';
export { snapshotWithDraft } from './draft-snapshot.ts';
export type { Snapshot } from './load-snapshot.ts';
export {
  createPolicyStore,
  type PolicyStore,
  type PolicyStoreOptions,
} from './policy-store.ts';
export { type AtRevision, type Prefetch, type RevisionedDatabase, withRevisions } from './revisioned-database.ts';
