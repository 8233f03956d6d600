import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { rootRoute } from '../../shell/parent-routes.ts';
import { isReturnPath, type SignInSearch } from './return-path.ts';

/** `/sign-in`. */
export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: onlyValid(
    ({ back, user, ended }): SignInSearch => ({
      ...(isReturnPath(back) && { back }),
      ...(typeof user === 'string' && { user }),
      ...(ended === true && { ended }),
    }),
  ),
  component: lazyScreen(() => import('./SignInScreen.tsx'), 'SignInScreen'),
});
