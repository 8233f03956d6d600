import { Badge, Button } from '@mantine/core';
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
import { commonTexts } from '../../texts/common.ts';

const texts = accountTexts.sessions;
const KEY = ['own sessions'];

const loadSessions = async () => (await bodyOf(client.GET('/auth/me/sessions', { params: { query: { limit: 100 } } }))).data;

type OwnSession = Awaited<ReturnType<typeof loadSessions>>[number];

/** The caller's open sessions, each with a button that ends it. */
export function OwnSessions() {
  const sessions = useQuery({ queryKey: KEY, queryFn: loadSessions });
  const queryClient = useQueryClient();
  const { mutate, variables, error, isPending } = useMutation({
    mutationFn: (id: string | undefined) =>
      id === undefined
        ? bodyOf(client.DELETE('/auth/me/sessions')).then(() => texts.othersEnded)
        : bodyOf(client.DELETE('/auth/me/sessions/{id}', { params: { path: { id } } })).then(() => texts.ended),
    onSuccess: (message) => {
      notifySuccess(message);
      void queryClient.invalidateQueries({ queryKey: KEY });
    },
  });
  return (
    <Panel
      title={texts.title}
      description={texts.description}
      actions={
        <Button variant="default" loading={isPending} onClick={() => mutate(undefined)}>
          {texts.endOthers}
        </Button>
      }
    >
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate(variables)} />}
      <QueryState query={sessions}>
        {(items) => <DataTable label={texts.title} columns={columnsOf(mutate)} items={items} idOf={({ id }) => id} />}
      </QueryState>
    </Panel>
  );
}

function columnsOf(end: (id: string) => void): readonly Column<OwnSession>[] {
  return [
    {
      key: 'device',
      title: texts.device,
      render: ({ userAgent }) => (userAgent === undefined ? commonTexts.unknown : <UserAgent text={userAgent} />),
    },
    { key: 'address', title: texts.address, width: 130, render: ({ ip }) => ip ?? commonTexts.unknown },
    { key: 'started', title: texts.started, render: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'used', title: texts.used, render: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    {
      key: 'end',
      title: '',
      render: ({ id, isCurrent }) =>
        isCurrent ? (
          <Badge>{texts.current}</Badge>
        ) : (
          <Button size="xs" variant="default" onClick={() => end(id)}>
            {texts.end}
          </Button>
        ),
    },
  ];
}
