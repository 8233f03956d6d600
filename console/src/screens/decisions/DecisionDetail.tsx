import { Alert, Button, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { printValue } from '../../components/decision/condition-words.ts';
import { Explanation } from '../../components/decision/Explanation.tsx';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Time } from '../../components/Time.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';
import { entryQuery } from './queries.ts';

const texts = decisionsTexts.detail;

type ExplainedEntry = Schemas['admin.ExplainedDecision'];

/** An audit entry: the request, the explanation of its decision, and the values that the conditions read. */
export function DecisionDetail({ id }: { readonly id: string }) {
  const entry = useQuery(entryQuery(id));
  return (
    <QueryState query={entry} lines={12}>
      {(data) => (
        <Stack>
          <Group gap="sm">
            <Verdict allowed={data.allowed} />
            <Text fw={600}>
              {data.action} {data.resource}
            </Text>
          </Group>
          <Members entry={data} />
          <Explanation explained={data} />
          {data.trace === undefined && data.kind === 'access' && <Text size="sm">{texts.noTrace}</Text>}
          <Facts kind={data.kind} facts={data.facts ?? {}} />
          {data.kind === 'access' && <Replay id={id} />}
        </Stack>
      )}
    </QueryState>
  );
}

function Members({ entry }: { readonly entry: ExplainedEntry }) {
  const { at, userId, role, recordId, reason, kind, ip, requestId, epoch, outcome, policyId } = entry;
  const { members } = texts;
  const rows: readonly (readonly [string, React.ReactNode])[] = [
    [members.reason, reason],
    [members.at, <Time key="at" at={at} />],
    [members.caller, userId === undefined ? role : `${userId} · ${role}`],
    ...(recordId === undefined ? [] : [[members.request, recordId] as const]),
    ...(outcome === undefined ? [] : [[members.outcome, <Code key="outcome">{outcome}</Code>] as const]),
    ...(policyId === undefined
      ? []
      : [
          [
            members.policy,
            <PolicyLink key="policy" id={policyId} size="sm">
              {texts.openPolicy}
            </PolicyLink>,
          ] as const,
        ]),
    [members.kind, kind],
    [members.ip, ip],
    [members.requestId, requestId],
    [members.revision, String(epoch)],
  ];
  return (
    <Table variant="vertical" layout="fixed" withTableBorder>
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={150}>{name}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Only requests to records read values for conditions. The entries of other kinds have details of their own. */
function Facts({ kind, facts }: { readonly kind: ExplainedEntry['kind']; readonly facts: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(facts);
  return (
    <div>
      <Title order={3} size="h5" mb="xs">
        {kind === 'access' ? texts.facts : texts.details}
      </Title>
      {rows.length === 0 && kind === 'access' && <Text size="sm">{texts.noFacts}</Text>}
      {rows.length > 0 && (
        <Table layout="fixed">
          <Table.Tbody>
            {rows.map(([path, value]) => (
              <Table.Tr key={path}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Code>{path}</Code>
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Code>{printValue(value)}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </div>
  );
}

/** Decides the request of the entry again under the present policies, with the values that the entry keeps. */
function Replay({ id }: { readonly id: string }) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => (await bodyOf(client.POST('/admin/api/decisions/{id}/replay', { params: { path: { id } }, body: {} }))).data,
  });
  const { replayed } = texts;
  return (
    <Stack gap="sm">
      <Button variant="default" loading={isPending} onClick={() => mutate()} style={{ alignSelf: 'flex-start' }}>
        {texts.replay}
      </Button>
      {error !== null && <ProblemAlert error={error} />}
      {data && (
        <>
          <Alert color={isSame(data) ? 'blue' : 'yellow'} title={isSame(data) ? replayed.same : replayed.changed}>
            {data.live.reason}
            {(data.live.missing ?? []).length > 0 && ` ${replayed.missing}: ${data.live.missing?.join(', ')}`}
          </Alert>
          {!isSame(data) && <Explanation explained={data.live} />}
        </>
      )}
    </Stack>
  );
}

function isSame({ entry, live }: Schemas['admin.DecisionReplay']): boolean {
  return live.effect === (entry.allowed ? 'allow' : 'deny') || (live.effect === 'conditional' && entry.allowed);
}
