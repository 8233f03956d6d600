import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** The filters of the list of users. */
export interface UsersSearch {
  readonly search?: string;
  readonly role?: string;
  readonly isActive?: boolean;
}

/** `/users`. */
export const usersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users',
  validateSearch: onlyValid(
    ({ search, role, isActive }: Record<string, unknown>): UsersSearch => ({
      ...((typeof search === 'string' || typeof search === 'number') && search !== '' && { search: String(search) }),
      ...(typeof role === 'string' && { role }),
      ...(typeof isActive === 'boolean' && { isActive }),
    }),
  ),
  component: lazyScreen(() => import('./UsersScreen.tsx'), 'UsersScreen'),
});

/** `/users/:id`. */
export const userRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users/$id',
  component: lazyScreen(() => import('./UserScreen.tsx'), 'UserScreen'),
});
