import { Outlet } from '@tanstack/react-router';
import { EmptyState } from '../components/EmptyState.tsx';
import { ProblemAlert } from '../components/ProblemAlert.tsx';
import { LoadingLines } from '../components/QueryState.tsx';
import { TextLink } from '../components/TextLink.tsx';
import { shellTexts } from '../texts/shell.ts';
import { useAuditRights } from './useAuditRights.ts';

/** Renders the screen for users who may read the audit log; for others, the reason why it is not there. */
export function AuditGate() {
  const { mayRead, isPending, error, reload } = useAuditRights();
  const { title, detail } = shellTexts.auditorsOnly;
  if (isPending) return <LoadingLines count={6} />;
  if (error !== null) return <ProblemAlert error={error} onRetry={reload} />;
  return mayRead ? (
    <Outlet />
  ) : (
    <EmptyState title={title} detail={detail} action={<TextLink to="/data">{shellTexts.toRecords}</TextLink>} />
  );
}
