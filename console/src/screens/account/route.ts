import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { sessionRoute } from '../../shell/parent-routes.ts';

/** `/account`. */
export const accountRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./AccountScreen.tsx'), 'AccountScreen'),
});
