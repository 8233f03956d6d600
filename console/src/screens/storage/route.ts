import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/storage`. */
export const storageRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/storage',
  component: lazyRouteComponent(() => import('./StorageScreen.tsx'), 'StorageScreen'),
});
