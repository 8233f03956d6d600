import { Navigate, Outlet } from '@tanstack/react-router';
import { ProblemAlert } from '../components/ProblemAlert.tsx';
import { LoadingLines } from '../components/QueryState.tsx';
import { useAuditRights } from './useAuditRights.ts';

/** Renders the overview for admins. Other users have no overview: the first screen that they may use opens instead. */
export function HomeGate() {
  const { isAdmin, mayRead, isPending, error, reload } = useAuditRights();
  if (isAdmin) return <Outlet />;
  if (isPending) return <LoadingLines count={6} />;
  if (error !== null) return <ProblemAlert error={error} onRetry={reload} />;
  return <Navigate to={mayRead ? '/decisions' : '/data'} replace />;
}
