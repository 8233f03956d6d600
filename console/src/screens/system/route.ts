import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/system`. */
export const systemRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/system',
  component: lazyScreen(() => import('./SystemScreen.tsx'), 'SystemScreen'),
});
