import { Problem } from './errors.ts';
import type { Route } from './request/index.ts';

/**
 * Routes whose denials name the address that explains them. For `bailiwick dev` alone: in production a caller who is denied learns nothing
 * of how decisions are looked up.
 */
export function withExplanationHints(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => ({
    ...route,
    async handle(call) {
      try {
        return await route.handle(call);
      } catch (error) {
        throw error instanceof Problem && error.code === 'ACCESS_DENIED' ? withHint(error) : error;
      }
    },
  }));
}

function withHint(problem: Problem): Problem {
  const { code, detail, extras } = problem;
  if (extras.decisionId === undefined) return problem;
  const hint = `GET /admin/api/decisions/${extras.decisionId}, with the token of an admin, explains this decision`;
  return new Problem(code, detail, { ...extras, hint });
}
