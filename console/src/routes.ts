/** The routes of all screens. The URL is the state of a screen: its route states the search parameters. A screen is loaded when it opens. */
import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { accessRoute } from './screens/access/route.ts';
import { accountRoute } from './screens/account/route.ts';
import { assignmentsRoute } from './screens/assignments/route.ts';
import { decisionRoute, decisionsRoute } from './screens/decisions/route.ts';
import { findingsRoute } from './screens/findings/route.ts';
import { firstStepsRoute } from './screens/first-steps/route.ts';
import { overviewRoute } from './screens/overview/route.ts';
import { policiesRoute, policyChangesRoute, policyImportRoute } from './screens/policies/route.ts';
import { newPolicyRoute, policyRoute } from './screens/policy/route.ts';
import { previewRoute } from './screens/preview/route.ts';
import { dataRoute, newRecordRoute, recordRoute, recordsRoute } from './screens/records/route.ts';
import { rolesRoute } from './screens/roles/route.ts';
import { setupRoute } from './screens/setup/route.ts';
import { signInRoute } from './screens/sign-in/route.ts';
import { simulatorRoute } from './screens/simulator/route.ts';
import { storageRoute } from './screens/storage/route.ts';
import { systemRoute } from './screens/system/route.ts';
import { userRoute, usersRoute } from './screens/users/route.ts';
import { CrashedScreen } from './shell/CrashedScreen.tsx';
import { LoadingScreen } from './shell/LoadingScreen.tsx';
import { adminRoute, auditRoute, homeRoute, rootRoute, sessionRoute } from './shell/parent-routes.ts';

const routeTree = rootRoute.addChildren([
  signInRoute,
  setupRoute,
  sessionRoute.addChildren([
    accountRoute,
    dataRoute,
    recordsRoute,
    newRecordRoute,
    recordRoute,
    auditRoute.addChildren([decisionsRoute, decisionRoute]),
    homeRoute.addChildren([overviewRoute]),
    adminRoute.addChildren([
      firstStepsRoute,
      simulatorRoute,
      previewRoute,
      accessRoute,
      storageRoute,
      systemRoute,
      usersRoute,
      rolesRoute,
      userRoute,
      policiesRoute,
      policyImportRoute,
      policyChangesRoute,
      newPolicyRoute,
      policyRoute,
      assignmentsRoute,
      findingsRoute,
    ]),
  ]),
]);

/** Milliseconds for which the previous screen stays while the next one is loaded. */
const SKELETON_AFTER = 100;

/** Creates the router. */
export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: 'intent',
    defaultErrorComponent: CrashedScreen,
    defaultPendingComponent: LoadingScreen,
    defaultPendingMs: SKELETON_AFTER,
    defaultPendingMinMs: 0,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
