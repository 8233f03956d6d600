/**
 * The policies in force: the policy store, which follows the revision, and the cache of user assignments.
 *
 * It loads and keeps policies; it never decides. The decision is `decision/`, the rules that apply are `policies/`.
 * Begin with `policy-store.ts`.
 */
export { createModelKeeper, type Followed, followed, type Model, type ModelKeeper, type ModelLimits } from './policy-store.ts';
