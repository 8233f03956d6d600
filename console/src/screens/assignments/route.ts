import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateAssignmentsSearch } from './assignments-search.ts';

/** `/assignments`. */
export const assignmentsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/assignments',
  validateSearch: onlyValid(validateAssignmentsSearch),
  component: lazyRouteComponent(() => import('./AssignmentsScreen.tsx'), 'AssignmentsScreen'),
});
