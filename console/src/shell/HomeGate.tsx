import { Navigate, Outlet } from '@tanstack/react-router';
import { LoadingLines } from '../components/QueryState.tsx';
import { useAuditRights } from './useAuditRights.ts';

/** Renders the overview for admins. Other users have no overview: the first screen that they may use opens instead. */
export function HomeGate() {
  const { isAdmin, mayRead, isPending } = useAuditRights();
  if (isAdmin) return <Outlet />;
  if (isPending) return <LoadingLines count={6} />;
  return <Navigate to={mayRead ? '/decisions' : '/data'} replace />;
}
