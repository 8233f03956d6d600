import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validatePolicySearch } from './policy-search.ts';

/** `/policies/new`. */
export const newPolicyRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/policies/new',
  validateSearch: onlyValid(validatePolicySearch),
  component: lazyScreen(() => import('./NewPolicyScreen.tsx'), 'NewPolicyScreen'),
});

/** `/policies/:id`. */
export const policyRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/policies/$id',
  validateSearch: onlyValid(validatePolicySearch),
  component: lazyScreen(() => import('./PolicyScreen.tsx'), 'PolicyScreen'),
});
