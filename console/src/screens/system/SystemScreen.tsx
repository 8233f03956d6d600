import { Badge, Grid, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { systemQuery } from '../../api/queries.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { printBytes } from '../../components/sizes.ts';
import { Time } from '../../components/Time.tsx';
import { systemTexts as texts } from '../../texts/service.ts';
import { OptionTable } from './OptionTable.tsx';
import { systemRoute } from './route.ts';

type Status = Schemas['admin.SystemStatus'];

/** The state of the process and its settings. */
export function SystemScreen() {
  const { search = '' } = systemRoute.useSearch();
  const navigate = systemRoute.useNavigate();
  const system = useQuery({ ...systemQuery, refetchInterval: 10_000 });
  return (
    <Page title={texts.title} description={texts.description}>
      <QueryState query={system} lines={12}>
        {(status) => (
          <>
            <Grid>
              <Grid.Col span={{ base: 12, md: 5 }}>
                <Checks checks={status.checks} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 7 }}>
                <Members status={status} />
              </Grid.Col>
            </Grid>
            <OptionTable
              options={status.options}
              search={search}
              onSearch={(text) => void navigate({ search: text === '' ? {} : { search: text }, replace: true })}
            />
          </>
        )}
      </QueryState>
    </Page>
  );
}

function Checks({ checks }: Pick<Status, 'checks'>) {
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {texts.checks}
        </Title>
        {checks.map(({ name, ok, why }) => (
          <div key={name}>
            <Group gap="sm">
              <Badge color={ok ? 'green' : 'red'} leftSection={<span aria-hidden="true">{ok ? '✓' : '✕'}</span>}>
                {ok ? texts.ok : texts.failing}
              </Badge>
              <Text size="sm">{name}</Text>
            </Group>
            {why !== undefined && <Text size="sm">{why}</Text>}
          </div>
        ))}
      </Stack>
    </Paper>
  );
}

function Members({ status }: { readonly status: Status }) {
  const { members } = texts;
  const { version, node, startedAt, revision, database, lastCheckpointAt, lastBackup, queues } = status;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [members.version, version ?? '—'],
    [members.node, node],
    [members.started, <Time key="started" at={startedAt} />],
    [members.revision, revision],
    [members.database, `${database.kind} ${database.version}`],
    [members.size, database.bytes === undefined ? '—' : printBytes(database.bytes)],
    [members.free, database.freeBytes === undefined ? '—' : printBytes(database.freeBytes)],
    [members.checkpoint, <Time key="checkpoint" at={lastCheckpointAt} />],
    [members.backup, lastBackup === undefined ? '—' : `${lastBackup.name}, ${printBytes(lastBackup.bytes)}`],
    [members.waiting, queues.waiting],
    [members.long, `${queues.longRunning}, ${queues.longWaiting}`],
    [members.connections, queues.connections],
  ];
  return (
    <Table variant="vertical" withTableBorder layout="fixed">
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="45%">{name}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
