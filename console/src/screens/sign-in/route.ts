import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { rootRoute } from '../../shell/parent-routes.ts';
import { isReturnPath } from './return-path.ts';

interface SignInSearch {
  /** The address to return to. */
  readonly back?: string;
  /** True if an earlier session has ended. */
  readonly ended?: boolean;
}

/** `/sign-in`. */
export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: onlyValid(
    ({ back, ended }): SignInSearch => ({
      ...(isReturnPath(back) && { back }),
      ...(ended === true && { ended }),
    }),
  ),
  component: lazyScreen(() => import('./SignInScreen.tsx'), 'SignInScreen'),
});
