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
}

/** Returns the rights of the signed-in user on the audit log; none without one. */
export function useAuditRights(): AuditRights {
  const session = useSession();
  const role = session.status === 'signedIn' ? session.user.role : undefined;
  const isAdmin = role === 'admin';
  const { data, isLoading } = useQuery({ ...ownCatalogueQuery, enabled: role !== undefined && !isAdmin });
  const may = (action: 'read' | 'export'): boolean =>
    isAdmin || (data?.auditLog?.permissions ?? []).some((permission) => permission.action === action);
  return { isAdmin, mayRead: may('read'), mayExport: may('export'), isPending: isLoading };
}
