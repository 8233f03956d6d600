import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';
import { validateAccessSearch } from './search.ts';

/** `/access`. */
export const accessRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/access',
  validateSearch: onlyValid(validateAccessSearch),
  component: lazyScreen(() => import('./AccessScreen.tsx'), 'AccessScreen'),
});
