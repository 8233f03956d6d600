import { Alert, Button, FileInput, Group, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { saveFile } from '../../api/download.ts';
import { type ImportCounts, type ImportOptions, importRecords, type RejectedRow } from '../../api/import-records.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { dataTexts } from '../../texts/data.ts';
import { useOwnResource } from './useOwnResource.ts';

const texts = dataTexts.importing;
/** Maximum number of rejected rows in the table. The saved file has all of them. */
const SHOWN = 100;

interface Imported {
  readonly counts: ImportCounts;
  readonly rejected: readonly RejectedRow[];
  readonly isDryRun: boolean;
}

/** Imports a file, or tries it without changing anything, and shows the progress and the rejected rows. */
export function ImportForm({ resource }: { readonly resource: string }) {
  const found = useOwnResource(resource);
  return (
    <QueryState query={found} lines={3}>
      {(own) => <FileForm resource={resource} keys={uniqueFields(own?.definition.fields ?? [])} />}
    </QueryState>
  );
}

function uniqueFields(fields: readonly { readonly name: string; readonly unique: boolean }[]): readonly string[] {
  return ['id', ...fields.filter(({ name, unique }) => unique && name !== 'id').map(({ name }) => name)];
}

function FileForm({ resource, keys }: { readonly resource: string; readonly keys: readonly string[] }) {
  const [file, setFile] = useState<File | null>(null);
  const [key, setKey] = useState<string | null>(null);
  const [skipsRejected, setSkips] = useState(true);
  const [rows, setRows] = useState(0);
  const queryClient = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (dryRun: boolean) => {
      setRows(0);
      if (file === null) throw new Error(texts.file);
      return runImport(resource, file, { options: { dryRun, skipsRejected, key: key ?? undefined }, onRow: setRows });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['records', resource] }),
  });
  return (
    <Stack>
      <FileInput label={texts.file} accept=".csv,.ndjson,.jsonl,.json" value={file} onChange={setFile} required />
      <Select label={texts.update} clearable data={[...keys]} value={key} onChange={setKey} />
      <Switch label={texts.skip} checked={skipsRejected} onChange={({ currentTarget }) => setSkips(currentTarget.checked)} />
      <Group>
        <Button variant="default" disabled={file === null} loading={isPending} onClick={() => mutate(true)}>
          {texts.dryRun}
        </Button>
        <Button disabled={file === null} loading={isPending} onClick={() => mutate(false)}>
          {texts.run}
        </Button>
        {isPending && (
          <Text size="sm" role="status">
            {texts.progress(rows)}
          </Text>
        )}
      </Group>
      {error !== null && <ProblemAlert error={error} />}
      {data && <Summary imported={data} resource={resource} />}
    </Stack>
  );
}

interface Running {
  readonly options: ImportOptions;
  onRow(row: number): void;
}

async function runImport(resource: string, file: File, { options, onRow }: Running): Promise<Imported> {
  const rejected: RejectedRow[] = [];
  let counts: ImportCounts = { imported: 0, updated: 0, unchanged: 0, rejected: 0 };
  for await (const line of importRecords(resource, file, options)) {
    if (line.kind === 'rejected') rejected.push(line.rejected);
    else counts = line.counts;
    if (line.kind === 'progress') onRow(line.row);
  }
  return { counts, rejected, isDryRun: options.dryRun };
}

function Summary({ imported: { counts, rejected, isDryRun }, resource }: { readonly imported: Imported; readonly resource: string }) {
  const save = (): void => {
    const lines = rejected.map((each) => `${JSON.stringify(each)}\n`);
    saveFile(new Blob(lines, { type: 'application/x-ndjson' }), `${resource}-rejected.ndjson`);
  };
  return (
    <Alert color={counts.rejected === 0 ? 'green' : 'yellow'} role="status">
      <Text size="sm" fw={600}>
        {isDryRun && `${texts.dry} `}
        {texts.summary(counts)}
      </Text>
      {rejected.length > 0 && (
        <>
          <Table layout="fixed" aria-label={texts.rejected}>
            <Table.Tbody>
              {rejected.slice(0, SHOWN).map(({ row, detail, errors = [] }) => (
                <Table.Tr key={row}>
                  <Table.Td w={90}>
                    {texts.row} {row}
                  </Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    {errors.length === 0 ? detail : errors.map((each) => `${each.path}: ${each.detail}`).join('; ')}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Button size="xs" variant="default" onClick={save}>
            {texts.save}
          </Button>
        </>
      )}
    </Alert>
  );
}
