import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateAssignmentsSearch } from './assignments-search.ts';

/** `/assignments`. */
export const assignmentsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/assignments',
  validateSearch: onlyValid(validateAssignmentsSearch),
  component: lazyScreen(() => import('./AssignmentsScreen.tsx'), 'AssignmentsScreen'),
});
