import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/findings`. `code` limits the list to one kind of finding. */
export const findingsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/findings',
  validateSearch: onlyValid(({ code }: Readonly<Record<string, unknown>>): { readonly code?: string } =>
    typeof code === 'string' ? { code } : {},
  ),
  component: lazyScreen(() => import('./FindingsScreen.tsx'), 'FindingsScreen'),
});
