import { Badge, Button, Text } from '@mantine/core';
import { type UseQueryResult, useMutation } from '@tanstack/react-query';
import { accountTexts } from '../texts/account.ts';
import { commonTexts } from '../texts/common.ts';
import { type Column, DataTable } from './DataTable.tsx';
import { notifySuccess } from './notify.ts';
import { Panel } from './Panel.tsx';
import { ProblemAlert } from './ProblemAlert.tsx';
import { QueryState } from './QueryState.tsx';
import { Time } from './Time.tsx';
import { UserAgent } from './UserAgent.tsx';

const texts = accountTexts.sessions;

/** An open session. */
interface OpenSession {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt?: string;
  readonly ip?: string;
  readonly userAgent?: string;
  /** True for the session of the page. */
  readonly isCurrent?: boolean;
}

/** Properties of the sessions. */
interface SessionPanelProps<Session extends OpenSession> {
  readonly title: string;
  readonly description?: string;
  readonly sessions: UseQueryResult<readonly Session[]>;
  /** The button that ends all sessions, or all others. */
  readonly endAll: string;
  /** Returns the kind of a session without a device. */
  kindOf(session: Session): string;
  /** Ends a session, or without an id all of them. Returns the message of its success. */
  end(id: string | undefined): Promise<string>;
}

/** Open sessions, each with a button that ends it. */
export function SessionPanel<Session extends OpenSession>(props: SessionPanelProps<Session>) {
  const { title, description, sessions, endAll, kindOf, end } = props;
  const { mutate, variables, error, isPending } = useMutation({
    mutationFn: end,
    onSuccess: (message) => {
      notifySuccess(message);
      void sessions.refetch();
    },
  });
  return (
    <Panel
      title={title}
      description={description}
      actions={
        (sessions.data?.length ?? 0) > 0 && (
          <Button variant="default" loading={isPending} onClick={() => mutate(undefined)}>
            {endAll}
          </Button>
        )
      }
    >
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate(variables)} />}
      <QueryState query={sessions} lines={3}>
        {(items) =>
          items.length === 0 ? (
            <Text c="dimmed">{texts.none}</Text>
          ) : (
            <DataTable label={title} columns={columnsOf(kindOf, mutate)} items={items} idOf={({ id }) => id} />
          )
        }
      </QueryState>
    </Panel>
  );
}

function columnsOf<Session extends OpenSession>(
  kindOf: (session: Session) => string,
  end: (id: string) => void,
): readonly Column<Session>[] {
  return [
    {
      key: 'device',
      title: texts.device,
      render: (session) => (session.userAgent === undefined ? kindOf(session) : <UserAgent text={session.userAgent} />),
    },
    { key: 'address', title: texts.address, width: 130, render: ({ ip }) => ip ?? commonTexts.unknown },
    { key: 'started', title: texts.started, width: 190, render: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'used', title: texts.used, width: 190, render: ({ lastUsedAt, createdAt }) => <Time at={lastUsedAt ?? createdAt} /> },
    {
      key: 'end',
      title: '',
      width: 130,
      render: ({ id, isCurrent = false }) =>
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
