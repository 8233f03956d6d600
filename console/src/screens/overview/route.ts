import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';
import { TIMEFRAMES, type Timeframe } from './queries.ts';

/** `/`. */
export const overviewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/',
  validateSearch: ({ timeframe }: Record<string, unknown>): { timeframe?: Timeframe } => {
    const known = TIMEFRAMES.find((each) => each === timeframe);
    return known === undefined ? {} : { timeframe: known };
  },
  component: lazyRouteComponent(() => import('./OverviewScreen.tsx'), 'OverviewScreen'),
});
