import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/storage`. */
export const storageRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/storage',
  component: lazyScreen(() => import('./StorageScreen.tsx'), 'StorageScreen'),
});
