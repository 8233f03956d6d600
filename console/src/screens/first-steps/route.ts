import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/first-steps`. */
export const firstStepsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/first-steps',
  component: lazyScreen(() => import('./FirstStepsScreen.tsx'), 'FirstStepsScreen'),
});
