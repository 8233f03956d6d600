import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/system`. `search` limits the list of settings. */
export const systemRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/system',
  validateSearch: onlyValid(({ search }: Readonly<Record<string, unknown>>): { readonly search?: string } =>
    (typeof search === 'string' || typeof search === 'number') && search !== '' ? { search: String(search) } : {},
  ),
  component: lazyScreen(() => import('./SystemScreen.tsx'), 'SystemScreen'),
});
