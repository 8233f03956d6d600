import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { commonTexts } from '../../texts/common.ts';
import { exportTexts as texts } from '../../texts/export.ts';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { printBytes } from '../sizes.ts';
import type { ExportProgress } from './useExport.ts';

/** Properties of the state of an export. */
export interface ExportStatusProps {
  readonly progress: ExportProgress | undefined;
  readonly error: unknown;
  onRepeat(): void;
  onEnd(): void;
}

/** The rows and bytes of an export so far; of one that has failed, the problem and that no file was saved. */
export function ExportStatus({ progress = { rows: 0, bytes: 0 }, error, onRepeat, onEnd }: ExportStatusProps) {
  const { rows, bytes } = progress;
  return (
    <Stack>
      {error === undefined ? (
        <>
          {/* The number of rows is not known before the last one, so the bar only shows that the export goes on. */}
          <Progress value={100} animated striped aria-label={texts.label} />
          <Text size="sm" role="status">
            {texts.progress(rows, printBytes(bytes))}
          </Text>
        </>
      ) : (
        <>
          <Text size="sm">{texts.failed(rows, printBytes(bytes))}</Text>
          <ProblemAlert error={error} onRepeat={onRepeat} />
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onEnd}>
          {error === undefined ? commonTexts.cancel : commonTexts.close}
        </Button>
      </Group>
    </Stack>
  );
}
