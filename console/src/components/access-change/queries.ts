/** Requests for the permissions that a draft changes. */
import { queryOptions } from '@tanstack/react-query';
import { loadAssignments } from '../../api/assignments.ts';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { comparePermissions, type Permission } from './permission-changes.ts';

/** A user or a role. */
export interface Subject {
  readonly kind: 'user' | 'role';
  /** The id of the user, or the role. */
  readonly id: string;
  readonly name: string;
}

/** The permissions of a user or role that a draft changes. */
export function permissionChangesQuery({ kind, id }: Subject, draft: Draft, resources: readonly string[] | undefined) {
  return queryOptions({
    queryKey: ['access', 'changes', kind, id, resources, draft],
    queryFn: async ({ signal }) => {
      const question = resources === undefined ? {} : { resources: [...resources] };
      const load = (members: Schemas['admin.PermissionsQuestion']) => loadPermissions({ kind, id }, members, signal);
      return comparePermissions(await load(question), await load({ ...question, draft }));
    },
    staleTime: 0,
    meta: { isComparison: true },
  });
}

/** Maximum number of policies whose assignments are loaded. */
const MAX_POLICIES = 10;

/** The first assignments of policies. */
export function firstAssignmentsQuery(policyIds: readonly string[]) {
  return queryOptions({
    queryKey: ['policies', 'assignments', 'first', policyIds],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(policyIds.slice(0, MAX_POLICIES).map((policyId) => loadAssignments({ policyId }, { signal })));
      return {
        assignments: pages.flatMap(({ items }) => items),
        isMore: policyIds.length > MAX_POLICIES || pages.some(({ nextCursor }) => nextCursor !== undefined),
      };
    },
  });
}

/** Loads all pages of permissions. */
async function loadPermissions(
  { kind, id }: Pick<Subject, 'kind' | 'id'>,
  question: Schemas['admin.PermissionsQuestion'],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const permissions: Permission[] = [];
  for (let cursor: string | undefined; ; ) {
    const body = cursor === undefined ? question : { ...question, cursor };
    const page =
      kind === 'user'
        ? await bodyOf(client.POST('/admin/api/users/{userId}/permissions', { params: { path: { userId: id } }, body, signal }))
        : await bodyOf(client.POST('/admin/api/roles/{role}/permissions', { params: { path: { role: id as 'user' } }, body, signal }));
    permissions.push(...page.data);
    cursor = page.nextCursor;
    if (cursor === undefined) return permissions;
  }
}
