import { Alert, Button, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { printValue } from '../../components/decision/condition-words.ts';
import { toDeniedUpdate } from '../../components/decision/denied-update.ts';
import { Explanation } from '../../components/decision/Explanation.tsx';
import type { NamesById } from '../../components/names-by-id.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { EntryMembers } from './EntryMembers.tsx';
import type { EntryFilter } from './filters.ts';
import { entryQuery, NO_NAMES } from './queries.ts';
import { toQuestion } from './simulator-question.ts';

const texts = decisionsTexts.detail;

type ExplainedEntry = Schemas['admin.ExplainedDecision'];

/** Properties of an audit entry. */
interface DecisionDetailProps {
  readonly id: string;
  /** Filters the list beside the entry. */
  onFilter?(filter: EntryFilter): void;
}

/** An audit entry: the request, the explanation of its decision, and the values that the conditions read. */
export function DecisionDetail({ id, onFilter }: DecisionDetailProps) {
  const entry = useQuery(entryQuery(id));
  const { isAdmin } = useAuditRights();
  return (
    <QueryState query={entry} lines={12}>
      {({ data, names, caller }) => (
        <Stack>
          <Group gap="sm">
            <Verdict allowed={data.allowed} />
            <Text fw={600}>
              {data.action} {data.resource}
            </Text>
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {isolateNames(data.reason)}
          </Text>
          {isAdmin && data.kind === 'access' && <AskAgain entry={data} />}
          {isAdmin && <Explained entry={data} users={names?.users} />}
          <EntryMembers entry={data} names={names ?? NO_NAMES} caller={caller} onFilter={onFilter} />
          {isAdmin ? <Facts kind={data.kind} facts={data.facts ?? {}} /> : <Text size="sm">{texts.forAdmins}</Text>}
        </Stack>
      )}
    </QueryState>
  );
}

/** The explanation of the decision. */
function Explained({ entry, users }: { readonly entry: ExplainedEntry; readonly users: NamesById | undefined }) {
  const { kind, trace } = entry;
  return (
    <>
      <Explanation explained={entry} users={users} resource={entry.resource} update={toDeniedUpdate(entry)} />
      {trace === undefined && kind === 'access' && <Text size="sm">{texts.noTrace}</Text>}
    </>
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

/**
 * Decides the request of the entry again under the present policies, with the values that the entry keeps. The simulator asks it with other
 * values.
 */
function AskAgain({ entry }: { readonly entry: ExplainedEntry }) {
  const {
    mutate,
    data: answer,
    error,
    isPending,
  } = useMutation({
    mutationFn: () =>
      bodyOf(client.POST('/admin/api/decisions/{id}/replay', { params: { path: { id: entry.id }, query: { names: true } }, body: {} })),
  });
  const { replayed } = texts;
  const { data, names } = answer ?? {};
  const question = toQuestion(entry);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
          {texts.replay}
        </Button>
        {question !== undefined && (
          <TextLink to="/simulator" search={question} size="sm">
            {texts.simulate}
          </TextLink>
        )}
      </Group>
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
      {data && (
        <>
          <Alert color={isSame(data) ? 'blue' : 'yellow'} title={isSame(data) ? replayed.same : replayed.changed}>
            {isolateNames(data.live.reason ?? '')}
            {(data.live.missing ?? []).length > 0 && ` ${replayed.missing}: ${data.live.missing?.join(', ')}`}
          </Alert>
          {!isSame(data) && (
            <Explanation explained={data.live} users={names?.users} resource={data.entry.resource} update={toDeniedUpdate(data.entry)} />
          )}
        </>
      )}
    </Stack>
  );
}

function isSame({ entry, live }: Schemas['admin.DecisionReplay']): boolean {
  return live.effect === (entry.allowed ? 'allow' : 'deny') || (live.effect === 'conditional' && entry.allowed);
}
