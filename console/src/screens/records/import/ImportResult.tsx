import { Alert, Button, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { saveFile } from '../../../api/download.ts';
import type { RejectedRow } from '../../../api/import-records.ts';
import { ProblemAlert } from '../../../components/ProblemAlert.tsx';
import { dataTexts } from '../../../texts/data.ts';
import { isolateNames } from '../../../texts/sentence.ts';
import type { ImportFile } from './import-file.ts';
import { reasonOf, selectRejected } from './rejected-rows.ts';
import type { FinishedImport } from './useImport.ts';

const texts = dataTexts.importing;
/** Maximum number of rejected rows in the table. The saved file has all of them. */
const SHOWN = 100;

/** Properties of the result. */
interface ImportResultProps {
  readonly result: FinishedImport;
  readonly resource: string;
  /** Imports the same file again. */
  onRepeat(): void;
}

/** The numbers of rows of an import, the error that ended it, and the rejected rows with their reasons. */
export function ImportResult({ result, resource, onRepeat }: ImportResultProps) {
  const { counts, rejected, end, error, input } = result;
  const { isDryRun, hasStored } = { isDryRun: input.options.dryRun, hasStored: counts.imported + counts.updated > 0 };
  return (
    <>
      {/* A repetition would create the stored rows again, or be refused because of them. */}
      {end === 'failed' && <ProblemAlert error={error} onRepeat={isDryRun || !hasStored ? onRepeat : undefined} />}
      <Alert color={end === 'complete' && counts.rejected === 0 ? 'green' : 'yellow'} role="status">
        <Text size="sm" fw={600}>
          {isDryRun ? `${texts.dry} ` : end === 'failed' && `${texts.failed} `}
          {texts.summary(counts)}
        </Text>
        {end === 'stopped' && !isDryRun && <Text size="sm">{texts.stopped}</Text>}
        {end === 'failed' && !isDryRun && hasStored && <Text size="sm">{texts.kept}</Text>}
        {rejected.length > 0 && <RejectedRows rejected={rejected} file={input.file} resource={resource} />}
      </Alert>
    </>
  );
}

interface RejectedRowsProps {
  readonly rejected: readonly RejectedRow[];
  readonly file: ImportFile;
  readonly resource: string;
}

/** The first rejected rows, and a button that saves all of them. */
function RejectedRows({ rejected, file, resource }: RejectedRowsProps) {
  const save = useMutation({
    mutationFn: async () => {
      const ending = file.type === 'text/csv' ? 'csv' : 'ndjson';
      saveFile(await selectRejected(file, rejected), `${resource}-rejected.${ending}`);
    },
  });
  return (
    <>
      <Table layout="fixed" aria-label={texts.rejected} mb="xs">
        <Table.Tbody>
          {rejected.slice(0, SHOWN).map((each) => (
            <Table.Tr key={each.row}>
              <Table.Td w={90}>
                {texts.row} {each.row.toLocaleString()}
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{isolateNames(reasonOf(each))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {rejected.length > SHOWN && <Text size="sm">{texts.more(rejected.length - SHOWN)}</Text>}
      {save.error !== null && <ProblemAlert error={save.error} onRetry={() => save.mutate()} />}
      <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        {texts.save}
      </Button>
      <Text size="sm" mt={4}>
        {texts.saveHelp}
      </Text>
    </>
  );
}
