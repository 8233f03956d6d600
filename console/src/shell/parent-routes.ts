/** The routes around all screens: the root, the session, and the parts for admins and for readers of the audit log. */
import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet } from '@tanstack/react-router';
import { NotFound } from '../screens/not-found/NotFound.tsx';
import { AdminGate } from './AdminGate.tsx';
import { AuditGate } from './AuditGate.tsx';
import { HomeGate } from './HomeGate.tsx';
import { Shell } from './Shell.tsx';

/** The parent of all routes. */
export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

/** The parent of the routes for signed-in users. */
export const sessionRoute = createRoute({ getParentRoute: () => rootRoute, id: 'session', component: Shell });

/** The parent of the routes for admins. */
export const adminRoute = createRoute({ getParentRoute: () => sessionRoute, id: 'admin', component: AdminGate });

/** The parent of the route that opens after the sign-in. */
export const homeRoute = createRoute({ getParentRoute: () => sessionRoute, id: 'home', component: HomeGate });

/** The parent of the routes for admins and auditors. */
export const auditRoute = createRoute({ getParentRoute: () => sessionRoute, id: 'audit', component: AuditGate });
