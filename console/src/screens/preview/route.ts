import { createRoute } from '@tanstack/react-router';
import { validatePreviewSearch } from '../../components/preview/preview-search.ts';
import { lazyScreen } from '../../shell/lazy-screen.ts';
import { onlyValid } from '../../shell/only-valid.ts';
import { adminRoute } from '../../shell/parent-routes.ts';

/** `/preview`. The draft is that of the tab (`api/draft.ts`). */
export const previewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/preview',
  validateSearch: onlyValid(validatePreviewSearch),
  component: lazyScreen(() => import('./PreviewScreen.tsx'), 'PreviewScreen'),
});
