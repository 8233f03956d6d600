import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { auditRoute } from '../../shell/parent-routes.ts';
import { validateDecisionsSearch } from './search.ts';

/** `/decisions`. */
export const decisionsRoute = createRoute({
  getParentRoute: () => auditRoute,
  path: '/decisions',
  validateSearch: onlyValid(validateDecisionsSearch),
  component: lazyScreen(() => import('./DecisionsScreen.tsx'), 'DecisionsScreen'),
});

/** `/decisions/:id`. */
export const decisionRoute = createRoute({
  getParentRoute: () => auditRoute,
  path: '/decisions/$id',
  component: lazyScreen(() => import('./DecisionScreen.tsx'), 'DecisionScreen'),
});
