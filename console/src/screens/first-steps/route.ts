import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/first-steps`. */
export const firstStepsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/first-steps',
  component: lazyRouteComponent(() => import('./FirstStepsScreen.tsx'), 'FirstStepsScreen'),
});
