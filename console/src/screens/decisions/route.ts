import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateDecisionsSearch } from './search.ts';

/** `/decisions`. */
export const decisionsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/decisions',
  validateSearch: validateDecisionsSearch,
  component: lazyRouteComponent(() => import('./DecisionsScreen.tsx'), 'DecisionsScreen'),
});

/** `/decisions/:id`. */
export const decisionRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/decisions/$id',
  component: lazyRouteComponent(() => import('./DecisionScreen.tsx'), 'DecisionScreen'),
});
