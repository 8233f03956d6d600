import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { Panel } from '../../components/Panel.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Time } from '../../components/Time.tsx';
import { UserAgent } from '../../components/UserAgent.tsx';
import { accountTexts } from '../../texts/account.ts';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.detail;
const columns = accountTexts.sessions;

const load = async (userId: string) =>
  (await bodyOf(client.GET('/admin/api/users/{userId}/sessions', { params: { path: { userId }, query: { limit: 100 } } }))).data;

type Session = Awaited<ReturnType<typeof load>>[number];

/** The open sessions of a user, each with a button that ends it. */
export function UserSessions({ userId }: { readonly userId: string }) {
  const key = ['users', 'sessions', userId];
  const queryClient = useQueryClient();
  const sessions = useQuery({ queryKey: key, queryFn: () => load(userId) });
  const end = useMutation({
    mutationFn: (sessionId: string | undefined) =>
      sessionId === undefined
        ? bodyOf(client.DELETE('/admin/api/users/{userId}/sessions', { params: { path: { userId } } })).then(() => undefined)
        : bodyOf(client.DELETE('/admin/api/users/{userId}/sessions/{sessionId}', { params: { path: { userId, sessionId } } })).then(
            () => undefined,
          ),
    onSuccess: () => {
      notifySuccess(texts.ended);
      void queryClient.invalidateQueries({ queryKey: key });
    },
  });
  return (
    <Panel
      title={texts.sessions}
      actions={
        (sessions.data?.length ?? 0) > 0 && (
          <Button variant="default" loading={end.isPending} onClick={() => end.mutate(undefined)}>
            {texts.endAll}
          </Button>
        )
      }
    >
      {end.error !== null && <ProblemAlert error={end.error} onRepeat={() => end.mutate(end.variables)} />}
      <QueryState query={sessions} lines={3}>
        {(items) =>
          items.length === 0 ? (
            <Text c="dimmed">{texts.noSessions}</Text>
          ) : (
            <DataTable label={texts.sessions} columns={columnsOf(end.mutate)} items={items} idOf={({ id }) => id} />
          )
        }
      </QueryState>
    </Panel>
  );
}

function columnsOf(end: (id: string) => void): readonly Column<Session>[] {
  return [
    {
      key: 'device',
      title: columns.device,
      render: ({ userAgent, kind }) => (userAgent === undefined ? texts.kinds[kind] : <UserAgent text={userAgent} />),
    },
    { key: 'address', title: columns.address, width: 140, render: ({ ip }) => ip ?? '—' },
    { key: 'used', title: columns.used, width: 190, render: ({ lastUsedAt, createdAt }) => <Time at={lastUsedAt ?? createdAt} /> },
    {
      key: 'end',
      title: '',
      width: 90,
      render: ({ id }) => (
        <Button size="xs" variant="default" onClick={() => end(id)}>
          {texts.end}
        </Button>
      ),
    },
  ];
}
