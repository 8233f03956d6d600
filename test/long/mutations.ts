/**
 * Ways to break the program, each noticed by a test: `mutations.test.ts` tries them all. What the table cannot say any
 * more, because a source has changed, `npm test` tells at once (test/mutations.test.ts).
 */
import type { Mutation } from './mutation.ts';
import { MUTATIONS_OF_CONDITIONS } from './mutations-of-conditions.ts';
import { MUTATIONS_OF_DECISIONS } from './mutations-of-decisions.ts';
import { MUTATIONS_OF_DELETIONS } from './mutations-of-deletions.ts';
import { MUTATIONS_OF_EVIDENCE } from './mutations-of-integrity.ts';
import { MUTATIONS_OF_REQUESTS } from './mutations-of-requests.ts';

/** All of them. */
export const MUTATIONS: readonly Mutation[] = [
  ...MUTATIONS_OF_CONDITIONS,
  ...MUTATIONS_OF_DECISIONS,
  ...MUTATIONS_OF_REQUESTS,
  ...MUTATIONS_OF_DELETIONS,
  ...MUTATIONS_OF_EVIDENCE,
];
