import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateAccessSearch } from './search.ts';

/** `/access`. */
export const accessRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/access',
  validateSearch: onlyValid(validateAccessSearch),
  component: lazyRouteComponent(() => import('./AccessScreen.tsx'), 'AccessScreen'),
});
