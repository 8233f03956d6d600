/**
 * The policies in force: the policy store, which follows the revision, and the cache of user assignments.
 *
 * It loads and keeps policies; it never decides. The decision is `decision/`, the rules that apply are `policies/`.
 * Begin with `policy-store.ts`.
 */
export type { UserAssignments } from './assignment-cache.ts';
export {
  createPolicyStore,
  type PolicyStore,
  type PolicyStoreOptions,
  type Prefetch,
  type RevisionedDatabase,
  type Snapshot,
  withRevisions,
} from './policy-store.ts';
