import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { onlyValid } from '../../shell/only-valid.ts';
import { sessionRoute } from '../../shell/parent-routes.ts';
import { validateRecordsSearch } from './search.ts';

/** `/data`. */
export const dataRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data',
  component: lazyRouteComponent(() => import('./ResourcesScreen.tsx'), 'ResourcesScreen'),
});

/** `/data/:resource`. */
export const recordsRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource',
  validateSearch: onlyValid(validateRecordsSearch),
  component: lazyRouteComponent(() => import('./RecordsScreen.tsx'), 'RecordsScreen'),
});

/** `/data/:resource/new`. */
export const newRecordRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource/new',
  component: lazyRouteComponent(() => import('./NewRecordScreen.tsx'), 'NewRecordScreen'),
});

/** `/data/:resource/:id`. */
export const recordRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: '/data/$resource/$id',
  component: lazyRouteComponent(() => import('./RecordScreen.tsx'), 'RecordScreen'),
});
