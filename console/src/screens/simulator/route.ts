import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateSimulatorSearch } from './search.ts';

/** `/simulator`. */
export const simulatorRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/simulator',
  validateSearch: validateSimulatorSearch,
  component: lazyRouteComponent(() => import('./SimulatorScreen.tsx'), 'SimulatorScreen'),
});
