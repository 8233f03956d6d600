/**
 * Deliberate defects, each with the test that must fail. `mutations.test.ts` in this folder applies them all;
 * `test/mutations.test.ts` checks in `npm test` that each can still be applied.
 */
import type { Mutation } from './mutation.ts';
import { MUTATIONS_OF_ALTERNATIVES } from './mutations-of-alternatives.ts';
import { MUTATIONS_OF_AUDIT_SEARCHES } from './mutations-of-audit-searches.ts';
import { MUTATIONS_OF_CONDITIONS } from './mutations-of-conditions.ts';
import { MUTATIONS_OF_CONSOLE } from './mutations-of-console.ts';
import { MUTATIONS_OF_DECISIONS } from './mutations-of-decisions.ts';
import { MUTATIONS_OF_DELETIONS } from './mutations-of-deletions.ts';
import { MUTATIONS_OF_FILES } from './mutations-of-files.ts';
import { MUTATIONS_OF_HIERARCHIES } from './mutations-of-hierarchies.ts';
import { MUTATIONS_OF_INTEGRITY } from './mutations-of-integrity.ts';
import { MUTATIONS_OF_LIMITS } from './mutations-of-limits.ts';
import { MUTATIONS_OF_LISTS } from './mutations-of-lists.ts';
import { MUTATIONS_OF_POLICY_FILES } from './mutations-of-policy-files.ts';
import { MUTATIONS_OF_PROJECTS } from './mutations-of-projects.ts';
import { MUTATIONS_OF_RELATIONS } from './mutations-of-relations.ts';
import { MUTATIONS_OF_REQUESTS } from './mutations-of-requests.ts';

/** All mutations. */
export const MUTATIONS: readonly Mutation[] = [
  ...MUTATIONS_OF_CONDITIONS,
  ...MUTATIONS_OF_FILES,
  ...MUTATIONS_OF_HIERARCHIES,
  ...MUTATIONS_OF_LIMITS,
  ...MUTATIONS_OF_ALTERNATIVES,
  ...MUTATIONS_OF_LISTS,
  ...MUTATIONS_OF_DECISIONS,
  ...MUTATIONS_OF_POLICY_FILES,
  ...MUTATIONS_OF_PROJECTS,
  ...MUTATIONS_OF_REQUESTS,
  ...MUTATIONS_OF_DELETIONS,
  ...MUTATIONS_OF_RELATIONS,
  ...MUTATIONS_OF_INTEGRITY,
  ...MUTATIONS_OF_AUDIT_SEARCHES,
  ...MUTATIONS_OF_CONSOLE,
];
