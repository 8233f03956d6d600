import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validatePoliciesSearch } from './policies-search.ts';

/** `/policies`. */
export const policiesRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/policies',
  validateSearch: onlyValid(validatePoliciesSearch),
  component: lazyScreen(() => import('./PoliciesScreen.tsx'), 'PoliciesScreen'),
});

/** `/policies/import`. */
export const policyImportRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/policies/import',
  component: lazyScreen(() => import('./ImportScreen.tsx'), 'ImportScreen'),
});

/** `/policies/changes`. */
export const policyChangesRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/policies/changes',
  component: lazyScreen(() => import('./ChangesScreen.tsx'), 'ChangesScreen'),
});
