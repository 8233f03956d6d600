import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateSimulatorSearch } from './search.ts';

/** `/simulator`. */
export const simulatorRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/simulator',
  validateSearch: onlyValid(validateSimulatorSearch),
  component: lazyScreen(() => import('./SimulatorScreen.tsx'), 'SimulatorScreen'),
});
