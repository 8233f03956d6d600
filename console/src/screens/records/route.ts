import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { sessionRoute } from '../../shell/parent-routes.ts';
import { validateRecordSearch, validateRecordsSearch } from './search.ts';

/** `/data`. */
export const dataRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data',
  component: lazyScreen(() => import('./ResourcesScreen.tsx'), 'ResourcesScreen'),
});

/** `/data/:resource`. */
export const recordsRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource',
  validateSearch: onlyValid(validateRecordsSearch),
  component: lazyScreen(() => import('./RecordsScreen.tsx'), 'RecordsScreen'),
});

/** `/data/:resource/new`. */
export const newRecordRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource/new',
  component: lazyScreen(() => import('./NewRecordScreen.tsx'), 'NewRecordScreen'),
});

/** `/data/:resource/:id`. */
export const recordRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource/$id',
  validateSearch: onlyValid(validateRecordSearch),
  component: lazyScreen(() => import('./RecordScreen.tsx'), 'RecordScreen'),
});
