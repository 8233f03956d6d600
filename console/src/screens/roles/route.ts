import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/roles`. */
export const rolesRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/roles',
  component: lazyScreen(() => import('./RolesScreen.tsx'), 'RolesScreen'),
});
