import { createRoute } from '@tanstack/react-router';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/preview`. The draft is that of the tab (`api/draft.ts`). */
export const previewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/preview',
  component: lazyScreen(() => import('./PreviewScreen.tsx'), 'PreviewScreen'),
});
