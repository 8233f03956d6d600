import { Alert, Box, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { LoadMore } from '../../components/LoadMore.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { UserPicker } from '../../components/UserPicker.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { PermissionGrid } from './PermissionGrid.tsx';
import { type Permission, userPermissionsQuery } from './queries.ts';
import type { AccessTabProps } from './RoleMatrix.tsx';

/** The actions that the policies allow a user on each resource. */
export function UserPermissions({ search: { user }, onChange }: Omit<AccessTabProps, 'catalogue'>) {
  return (
    <Stack>
      <Box maw={400}>
        {/* An absent member would keep the former user. */}
        <UserPicker label={texts.user} value={user} onChange={(id) => onChange({ user: id ?? '' })} />
      </Box>
      {user === undefined || user === '' ? <Text c="dimmed">{texts.askUser}</Text> : <Permissions userId={user} />}
    </Stack>
  );
}

function Permissions({ userId }: { readonly userId: string }) {
  const permissions = useInfiniteQuery(userPermissionsQuery(userId));
  return (
    <QueryState query={permissions}>
      {({ pages }) => {
        const all = pages.flatMap(({ data }) => data);
        return (
          <Stack>
            {pages[0]?.warnings?.map((warning) => (
              <Alert key={warning} color="yellow">
                {warning}
              </Alert>
            ))}
            <PermissionGrid
              label={texts.permissionsLabel(pages[0]?.user.email ?? userId)}
              heading={texts.resource}
              actions={[...new Set(all.map(({ action }) => action))]}
              rows={byResource(all)}
              simulatorLink={(resource, { action }) => `/console/simulator?${new URLSearchParams({ user: userId, resource, action })}`}
            />
            <LoadMore query={permissions} />
          </Stack>
        );
      }}
    </QueryState>
  );
}

function byResource(permissions: readonly Permission[]): readonly { readonly name: string; readonly permissions: readonly Permission[] }[] {
  return [...Map.groupBy(permissions, ({ resource }) => resource)].map(([name, of]) => ({ name, permissions: of }));
}
