import { Problem } from '../../errors.ts';
import type { Route } from '../../request/index.ts';

/**
 * Returns routes that add to each denial the path of the endpoint that explains it. Only `bailiwick dev` uses these routes: in production,
 * a denied caller learns nothing about the explanation of decisions.
 */
export function withExplanationHints(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => ({
    ...route,
    async handle(call, charge) {
      try {
        return await route.handle(call, charge);
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
