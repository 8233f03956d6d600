import { Alert, Button, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { saveFile } from '../../../api/download.ts';
import type { RejectedRow } from '../../../api/import-records.ts';
import { isLost } from '../../../api/problem.ts';
import { ProblemAlert } from '../../../components/ProblemAlert.tsx';
import { dataTexts } from '../../../texts/data.ts';
import { isolateNames } from '../../../texts/sentence.ts';
import classes from './ImportResult.module.css';
import type { ImportFile } from './import-file.ts';
import { groupMistakes, selectRejected, toRanges } from './rejected-rows.ts';
import type { FinishedImport } from './useImport.ts';

const texts = dataTexts.importing;
/** Maximum number of mistakes in the table, and of ranges of rows for each. The saved file has all of them. */
const [SHOWN, SHOWN_RANGES] = [100, 10];

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
  const { dryRun: isDryRun, key } = input.options;
  const hasStored = counts.imported + counts.updated > 0;
  // The rows after the last progress may be stored too, or all rows without one.
  const isUnknown = isLost(error) && !isDryRun && !hasStored;
  const mayRepeat = isUnknown ? key !== undefined : isDryRun || !hasStored;
  const shown = useRef<HTMLDivElement>(null);
  // The result is below the form, which fills a small window.
  useEffect(() => {
    shown.current?.focus({ preventScroll: true });
    shown.current?.scrollIntoView({ block: 'start' });
  }, []);
  return (
    <Stack ref={shown} role="group" aria-label={texts.result} tabIndex={-1} className={classes['result']}>
      {/* A repetition would create the stored rows again, or be refused because of them. */}
      {end === 'failed' && <ProblemAlert error={error} onRepeat={mayRepeat ? onRepeat : undefined} />}
      <Alert color={end === 'complete' && counts.rejected === 0 ? 'green' : 'yellow'} role="status">
        {isUnknown ? (
          <Text size="sm">{texts.lost}</Text>
        ) : (
          <Text size="sm" fw={600}>
            {summaryOf(result)}
          </Text>
        )}
        {end === 'stopped' && !isDryRun && <Text size="sm">{texts.stopped}</Text>}
        {end === 'failed' && !isDryRun && hasStored && <Text size="sm">{texts.kept}</Text>}
        {rejected.length > 0 && <RejectedRows rejected={rejected} file={input.file} resource={resource} />}
      </Alert>
    </Stack>
  );
}

function summaryOf({ counts, end, input }: FinishedImport): string {
  const { dryRun } = input.options;
  const beginning = [...(dryRun ? [texts.dry] : []), ...(end === 'failed' ? [texts.failed] : [])];
  return [...beginning, dryRun ? texts.trial(counts) : texts.summary(counts)].join(' ');
}

interface RejectedRowsProps {
  readonly rejected: readonly RejectedRow[];
  readonly file: ImportFile;
  readonly resource: string;
}

/** The mistakes of rejected rows, each with its rows, and a button that saves all rejected rows. */
function RejectedRows({ rejected, file, resource }: RejectedRowsProps) {
  const save = useMutation({
    mutationFn: async () => {
      const ending = file.type === 'text/csv' ? 'csv' : 'ndjson';
      saveFile(await selectRejected(file, rejected), `${resource}-rejected.${ending}`);
    },
  });
  const mistakes = groupMistakes(rejected);
  return (
    <>
      <Table layout="fixed" aria-label={texts.rejected} mb="xs">
        <Table.Tbody>
          {mistakes.slice(0, SHOWN).map(({ mistake, rows }) => (
            <Table.Tr key={mistake}>
              <Table.Td w="30%">{texts.rows(rows.length, describeRows(rows))}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{isolateNames(mistake)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {mistakes.length > SHOWN && <Text size="sm">{texts.more(mistakes.length - SHOWN)}</Text>}
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

/** Returns the ranges of rows, and that there are others if they are too many. */
function describeRows(rows: readonly number[]): string {
  const ranges = toRanges(rows);
  const shown = ranges.slice(0, SHOWN_RANGES).map(([first, last]) => texts.range(first, last));
  return [...shown, ...(ranges.length > SHOWN_RANGES ? [texts.moreRanges] : [])].join(', ');
}
