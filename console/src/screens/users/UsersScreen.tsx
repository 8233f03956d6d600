import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadMore } from '../../components/LoadMore.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Time } from '../../components/Time.tsx';
import { useDelayedText } from '../../components/useTypedText.ts';
import { commonTexts } from '../../texts/common.ts';
import { usersTexts as texts } from '../../texts/service.ts';
import { type UsersSearch, usersRoute } from './route.ts';
import { UserDialog } from './UserDialog.tsx';

type ListedUser = Schemas['admin.ListedUser'];

/** The list of users, with search and filters. */
export function UsersScreen() {
  const search = usersRoute.useSearch();
  const navigate = useNavigate({ from: '/users' });
  const users = useInfiniteQuery({
    queryKey: ['users', 'list', search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        client.GET('/admin/api/users', { params: { query: { ...search, ...(pageParam !== undefined && { cursor: pageParam }) } }, signal }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  // The form has no changes to lose: the user is stored.
  const open = (id: string): void => void navigate({ to: '/users/$id', params: { id }, ignoreBlocker: true });
  return (
    <Page title={texts.title} description={texts.description} actions={<UserDialog label={texts.create} onDone={open} />}>
      <Filters search={search} onChange={(next) => void navigate({ search: next, replace: true })} />
      <QueryState query={users} lines={10}>
        {({ pages }) => {
          const items = pages.flatMap(({ data }) => data);
          if (items.length === 0) {
            return (
              <EmptyState
                title={texts.empty.title}
                detail={texts.empty.detail}
                action={
                  <Button variant="default" onClick={() => void navigate({ search: {}, replace: true })}>
                    {texts.empty.action}
                  </Button>
                }
              />
            );
          }

          return (
            <Stack>
              <DataTable label={texts.title} columns={COLUMNS} items={items} idOf={({ id }) => id} onOpen={({ id }) => open(id)} />
              <LoadMore query={users} />
            </Stack>
          );
        }}
      </QueryState>
    </Page>
  );
}

function Filters({ search, onChange }: { readonly search: UsersSearch; onChange(search: UsersSearch): void }) {
  const { data } = useQuery(catalogueQuery);
  const { search: text, role, isActive, ...rest } = search;
  const change = (next: { readonly [Name in keyof UsersSearch]: UsersSearch[Name] | undefined }): void => {
    const all = { ...rest, search: text, role, isActive, ...next };
    onChange(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== '')));
  };
  const input = useDelayedText(text ?? '', (typed) => change({ search: typed }));
  return (
    <Group gap="sm">
      <TextInput data-search w={300} maw="100%" aria-label={texts.search} placeholder={texts.search} {...input} />
      <Select
        aria-label={texts.role}
        placeholder={texts.anyRole}
        clearable
        w={150}
        data={data?.userRoles ?? []}
        value={role ?? null}
        onChange={(next) => change({ role: next ?? undefined })}
      />
      <Select
        aria-label={texts.active}
        placeholder={texts.anyState}
        clearable
        w={140}
        data={[
          { value: 'true', label: texts.active },
          { value: 'false', label: texts.inactive },
        ]}
        value={isActive === undefined ? null : String(isActive)}
        onChange={(next) => change({ isActive: next === null ? undefined : next === 'true' })}
      />
    </Group>
  );
}

const COLUMNS: readonly Column<ListedUser>[] = [
  {
    key: 'user',
    title: texts.columns.user,
    render: ({ name, email }) => (
      <>
        <Text size="sm" fw={600} span>
          {name ?? email}
        </Text>
        {name !== undefined && (
          <Text size="xs" c="dimmed">
            {email}
          </Text>
        )}
      </>
    ),
  },
  { key: 'role', title: texts.columns.role, width: 120, render: ({ role }) => role },
  {
    key: 'active',
    title: texts.columns.active,
    width: 110,
    render: ({ isActive }) => (isActive ? commonTexts.yes : <Badge color="gray">{texts.inactive}</Badge>),
  },
  { key: 'policies', title: texts.columns.policies, width: 150, render: ({ assignments }) => assignments },
  { key: 'login', title: texts.columns.login, width: 190, render: ({ lastLoginAt }) => <Time at={lastLoginAt} /> },
  {
    key: 'session',
    title: texts.columns.session,
    width: 100,
    render: ({ hasSession }) => (hasSession ? <Badge color="green">{texts.open}</Badge> : '—'),
  },
];
