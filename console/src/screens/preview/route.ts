import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/preview`. The draft is that of the tab (`api/draft.ts`). */
export const previewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/preview',
  component: lazyRouteComponent(() => import('./PreviewScreen.tsx'), 'PreviewScreen'),
});
