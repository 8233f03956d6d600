import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/`. */
export const overviewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./OverviewScreen.tsx'), 'OverviewScreen'),
});
