import { Alert, Button, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { saveFile } from '../../../api/download.ts';
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
  readonly file: ImportFile;
  readonly resource: string;
}

/** The numbers of rows of an import, and the rejected rows with their reasons. */
export function ImportResult({ result: { counts, rejected, isDryRun, isStopped }, file, resource }: ImportResultProps) {
  const save = useMutation({
    mutationFn: async () => {
      const ending = file.type === 'text/csv' ? 'csv' : 'ndjson';
      saveFile(await selectRejected(file, rejected), `${resource}-rejected.${ending}`);
    },
  });
  return (
    <Alert color={counts.rejected === 0 && !isStopped ? 'green' : 'yellow'} role="status">
      <Text size="sm" fw={600}>
        {isDryRun && `${texts.dry} `}
        {texts.summary(counts)}
      </Text>
      {isStopped && !isDryRun && <Text size="sm">{texts.stopped}</Text>}
      {rejected.length > 0 && (
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
          {save.error !== null && <ProblemAlert error={save.error} />}
          <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
            {texts.save}
          </Button>
          <Text size="sm" mt={4}>
            {texts.saveHelp}
          </Text>
        </>
      )}
    </Alert>
  );
}
