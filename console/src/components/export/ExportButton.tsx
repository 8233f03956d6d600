import { Button } from '@mantine/core';
import { exportTexts as texts } from '../../texts/export.ts';
import { ActionMenu } from '../ActionMenu.tsx';
import { Dialog } from '../Dialog.tsx';
import { GuardedButton } from '../GuardedButton.tsx';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { ExportStatusProps } from './ExportStatus.tsx';
import type { ExportFormat } from './row-counter.ts';
import { type ExportRequest, useExport } from './useExport.ts';

const status = createPart<ExportStatusProps>(async () => (await import('./ExportStatus.tsx')).ExportStatus);

/** Properties of the button. */
interface ExportButtonProps {
  readonly formats: readonly ExportFormat[];
  /** The reason why the export would be refused; undefined if it would not. */
  readonly refusal: string | undefined;
  /** Returns the file to export in a format. */
  toRequest(format: ExportFormat): ExportRequest;
}

/** A button with the formats of an export, and the dialog with its progress. */
export function ExportButton({ formats, refusal, toRequest }: ExportButtonProps) {
  const { progress, isSlow = false, error, start, repeat, end } = useExport();
  const isRunning = progress !== undefined && error === undefined;
  if (refusal !== undefined) {
    return (
      <GuardedButton variant="default" refusal={refusal} onClick={() => undefined}>
        {texts.label}
      </GuardedButton>
    );
  }
  return (
    <>
      <ActionMenu
        actions={formats.map((format) => ({ key: format, label: format.toUpperCase(), perform: () => start(toRequest(format)) }))}
        button={(props) => (
          <Button variant="default" loading={isRunning} {...props}>
            {texts.label}
          </Button>
        )}
      />
      {/* A running export ends only with its button. */}
      <Dialog
        opened={isSlow || error !== undefined}
        onClose={end}
        title={texts.label}
        withCloseButton={!isRunning}
        closeOnEscape={!isRunning}
        closeOnClickOutside={!isRunning}
      >
        <LazyPart part={status} props={{ progress, error, onRepeat: repeat, onEnd: end }} lines={2} />
      </Dialog>
    </>
  );
}
