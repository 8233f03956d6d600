import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { homeRoute } from '../../shell/parent-routes.ts';
import { TIMEFRAMES, type Timeframe } from './queries.ts';

/** `/`. */
export const overviewRoute = createRoute({
  getParentRoute: () => homeRoute,
  path: '/',
  validateSearch: onlyValid(({ timeframe }: Record<string, unknown>): { timeframe?: Timeframe } => {
    const known = TIMEFRAMES.find((each) => each === timeframe);
    return known === undefined ? {} : { timeframe: known };
  }),
  component: lazyScreen(() => import('./OverviewScreen.tsx'), 'OverviewScreen'),
});
