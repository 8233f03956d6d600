import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { sessionRoute } from '../../shell/parent-routes.ts';

/** `/account`. */
export const accountRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/account',
  component: lazyScreen(() => import('./AccountScreen.tsx'), 'AccountScreen'),
});
