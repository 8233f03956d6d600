import { Alert, Box, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { LoadMore } from '../../components/LoadMore.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { UserPicker } from '../../components/UserPicker.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { PermissionGrid, type PermissionRow } from './PermissionGrid.tsx';
import { type Permission, userPermissionsQuery } from './queries.ts';
import type { AccessTabProps } from './RoleMatrix.tsx';

/** The actions that the policies allow a user on each resource. */
export function UserPermissions({ search: { user }, draft, onChange }: Omit<AccessTabProps, 'catalogue'>) {
  return (
    <Stack>
      <Box maw={400}>
        {/* An absent member would keep the former user. */}
        <UserPicker label={texts.user} value={user} onChange={(id) => onChange({ user: id ?? '' })} />
      </Box>
      {user === undefined || user === '' ? <Text c="dimmed">{texts.askUser}</Text> : <Permissions userId={user} draft={draft} />}
    </Stack>
  );
}

function Permissions({ userId, draft }: { readonly userId: string } & Pick<AccessTabProps, 'draft'>) {
  const permissions = useInfiniteQuery(userPermissionsQuery(userId));
  const underDraft = useInfiniteQuery({ ...userPermissionsQuery(userId, draft), enabled: draft !== undefined });
  const hasFailed = draft !== undefined && underDraft.error !== null;
  return (
    <QueryState query={permissions}>
      {({ pages }) => {
        const all = pages.flatMap(({ data }) => data);
        const drafted = draft && (underDraft.data?.pages.flatMap(({ data }) => data) ?? []);
        return (
          <Stack>
            {pages[0]?.warnings?.map((warning) => (
              <Alert key={warning} color="yellow">
                {warning}
              </Alert>
            ))}
            {hasFailed && <ProblemAlert error={underDraft.error} onRetry={underDraft.refetch} />}
            <PermissionGrid
              label={texts.permissionsLabel(pages[0]?.user.email ?? userId)}
              heading={texts.resource}
              actions={[...new Set(all.map(({ action }) => action))]}
              rows={byResource(all, drafted)}
              questionOf={(resource, { action }) => ({ user: userId, resource, action })}
            />
            <LoadMore
              query={{
                ...permissions,
                // Both sides have the same pages of resources.
                fetchNextPage: async () => (await Promise.all([permissions.fetchNextPage(), draft && underDraft.fetchNextPage()]))[0],
              }}
            />
          </Stack>
        );
      }}
    </QueryState>
  );
}

function byResource(permissions: readonly Permission[], drafted: readonly Permission[] | undefined): readonly PermissionRow[] {
  return [...Map.groupBy(permissions, ({ resource }) => resource)].map(([name, of]) => ({
    name,
    permissions: of,
    ...(drafted && { drafted: drafted.filter(({ resource }) => resource === name) }),
  }));
}
