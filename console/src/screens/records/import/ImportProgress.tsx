import { Button, Group, Progress, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { dataTexts } from '../../../texts/data.ts';
import type { RunningImport } from './import-run.ts';

const texts = dataTexts.importing;

/** Properties of the progress. */
interface ImportProgressProps {
  readonly running: RunningImport;
  readonly isDryRun: boolean;
  onStop(): void;
}

/** The numbers of rows so far, and a button that stops the import. */
export function ImportProgress({ running: { counts, row }, isDryRun, onStop }: ImportProgressProps) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Its result is no cleanup: some browsers return a promise.
    shown.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={shown}>
      {/* The number of rows is not known before the last one, so the bar only shows that the import goes on. */}
      <Progress value={100} animated striped aria-label={texts.run} mb="xs" />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {texts.progress(row)} {isDryRun ? texts.trial(counts) : texts.summary(counts)}
        </Text>
        <Button size="xs" variant="default" onClick={onStop}>
          {texts.stop}
        </Button>
      </Group>
    </div>
  );
}
