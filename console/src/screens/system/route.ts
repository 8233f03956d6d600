import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/system`. */
export const systemRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('./SystemScreen.tsx'), 'SystemScreen'),
});
