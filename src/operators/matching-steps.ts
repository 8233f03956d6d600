/**
 * Maximum number of steps of all patterns of one evaluation, such as a decision on a record: about 20 milliseconds at worst, in which no other
 * request continues. A policy can have many patterns, and a client can send some.
 */
const MAX_EVALUATION_STEPS = 200_000;

/** The steps of patterns that are left for one evaluation. All comparisons on one record share them. */
export interface MatchingSteps {
  left: number;
}

/** Creates the steps of one evaluation. */
export function createMatchingSteps(): MatchingSteps {
  return { left: MAX_EVALUATION_STEPS };
}
