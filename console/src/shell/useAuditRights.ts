import { useQuery } from '@tanstack/react-query';
import { ownCatalogueQuery } from '../api/queries.ts';
import { useSession } from './useSession.ts';

/** The rights of the signed-in user on the audit log. */
export interface AuditRights {
  /** Admins also see explanations and the values that conditions read. */
  readonly isAdmin: boolean;
  readonly mayRead: boolean;
  readonly mayExport: boolean;
  /** True until the rights are known. */
  readonly isPending: boolean;
  /** The failure because of which the rights are not known; null without one. */
  readonly error: Error | null;
  /** Loads the rights again after a failure. */
  reload(): void;
}

/** Returns the rights of the signed-in user on the audit log; none without one. */
export function useAuditRights(): AuditRights {
  const session = useSession();
  const role = session.status === 'signedIn' ? session.user.role : undefined;
  const isAdmin = role === 'admin';
  const enabled = role !== undefined && !isAdmin;
  // The alert that shows the failure asks for the rights too, which would send the request again without end.
  const { data, isLoading, error, refetch } = useQuery({ ...ownCatalogueQuery, enabled, retryOnMount: false });
  const may = (action: 'read' | 'export'): boolean =>
    isAdmin || (data?.auditLog?.permissions ?? []).some((permission) => permission.action === action);
  return {
    ...{ isAdmin, mayRead: may('read'), mayExport: may('export'), isPending: isLoading },
    error: data === undefined ? error : null,
    reload: () => void refetch(),
  };
}
