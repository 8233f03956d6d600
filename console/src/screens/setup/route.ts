import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/parent-routes.ts';

/** `/setup`. The link that the service prints has the setup token in its fragment, which browsers send to no server. */
export const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyRouteComponent(() => import('./SetupScreen.tsx'), 'SetupScreen'),
});
