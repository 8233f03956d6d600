import { Alert, Button, Code, Group, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Definition } from '../../api/own-resources.ts';
import type { Row } from '../../api/records.ts';
import { dataTexts } from '../../texts/data.ts';
import { ProblemAlert } from '../ProblemAlert.tsx';

const texts = dataTexts.conflict;

/** A change that another change has overtaken. */
export interface ConflictState {
  readonly mine: Readonly<Record<string, unknown>>;
  readonly stored: Row;
  keepMine(): Promise<unknown>;
  takeTheirs(): Promise<unknown>;
}

/** Shows the values of the caller beside those that were stored meanwhile, and asks which ones to keep. */
export function Conflict({ definition, conflict }: { readonly definition: Definition; readonly conflict: ConflictState }) {
  const keep = useMutation({ mutationFn: conflict.keepMine });
  const take = useMutation({ mutationFn: conflict.takeTheirs });
  return (
    <Alert color="yellow" title={texts.title} mb="md" role="alert">
      <Text size="sm">{texts.detail}</Text>
      <Table my="sm" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.field}</Table.Th>
            <Table.Th>{texts.mine}</Table.Th>
            <Table.Th>{texts.theirs}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {definition.fields
            .filter(({ name }) => name in conflict.mine)
            .map(({ name }) => (
              <Table.Tr key={name}>
                <Table.Td>{name}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Code>{JSON.stringify(conflict.mine[name])}</Code>
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Code>{JSON.stringify(conflict.stored[name])}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
      {keep.error !== null && <ProblemAlert error={keep.error} />}
      <Group>
        <Button size="xs" loading={keep.isPending} onClick={() => keep.mutate()}>
          {texts.keepMine}
        </Button>
        <Button size="xs" variant="default" loading={take.isPending} onClick={() => take.mutate()}>
          {texts.takeTheirs}
        </Button>
      </Group>
    </Alert>
  );
}
