import { Button, Group, Progress, Text } from '@mantine/core';
import { dataTexts } from '../../../texts/data.ts';
import type { RunningImport } from './import-run.ts';

const texts = dataTexts.importing;

/** The numbers of rows so far, and a button that stops the import. */
export function ImportProgress({ running: { counts, row }, onStop }: { readonly running: RunningImport; onStop(): void }) {
  return (
    <div>
      {/* The number of rows is not known before the last one, so the bar only shows that the import goes on. */}
      <Progress value={100} animated striped aria-label={texts.run} mb="xs" />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {texts.progress(row)} {texts.summary(counts)}
        </Text>
        <Button size="xs" variant="default" onClick={onStop}>
          {texts.stop}
        </Button>
      </Group>
    </div>
  );
}
