import { Problem } from '../errors.ts';
import type { Outcome } from './pipeline.ts';
import type { Denials } from './request-context.ts';

/** Returns the id of the audit entry that records a decision: for a repeated denial, the entry of the first denial. */
export type FindEntryId = (decisionId: string) => string;

/** Returns the function for the denials of a unit of work, or undefined if each has an entry. Call it after the commit, which determines the entries. */
export function createFindEntryId({ appended }: Denials): FindEntryId | undefined {
  const repeats = appended.filter(({ entry, window }) => window !== undefined && window.first.id !== entry.id);
  if (repeats.length === 0) return undefined;
  const firstIds = new Map(repeats.map(({ entry, window }) => [entry.id, window?.first.id]));
  return (decisionId) => firstIds.get(decisionId) ?? decisionId;
}

/** Returns an outcome with the id of the entry that records its decision. */
export function withEntryId<T>(outcome: Outcome<T>, findEntryId: FindEntryId): Outcome<T> {
  const decisionId = outcome.decisionId && findEntryId(outcome.decisionId);
  return 'problem' in outcome ? { problem: problemWithEntryId(outcome.problem, findEntryId), decisionId } : { ...outcome, decisionId };
}

/** Returns the problem to throw for a failed request: with the id of its audit entry, which the response names. */
export function toNamedProblem({ problem, decisionId }: Extract<Outcome<unknown>, { problem: Problem }>): Problem {
  if (decisionId === undefined || problem.extras.decisionId !== undefined) return problem;
  return new Problem(problem.code, problem.detail, { ...problem.extras, decisionId });
}

/** Returns a problem with the id of the entry that records its decision. */
export function problemWithEntryId(problem: Problem, findEntryId: FindEntryId): Problem {
  const { code, detail, extras } = problem;
  if (extras.decisionId === undefined) return problem;
  return new Problem(code, detail, { ...extras, decisionId: findEntryId(extras.decisionId) });
}
