import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { rootRoute } from '../../shell/parent-routes.ts';

/** `/setup`. The link that the service prints has the setup token in its fragment, which browsers send to no server. */
export const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyScreen(() => import('./SetupScreen.tsx'), 'SetupScreen'),
});
