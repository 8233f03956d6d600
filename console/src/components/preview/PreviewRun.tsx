import { Alert, Button, Group, Paper, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Draft } from '../../api/draft.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { GuardedButton } from '../GuardedButton.tsx';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { PreviewFilters } from './PreviewFilters.tsx';
import { PreviewResult } from './PreviewResult.tsx';
import type { PreviewSearch } from './preview-search.ts';
import { usePreview } from './usePreview.ts';

/** Properties of a preview. */
interface PreviewRunProps {
  readonly draft: Draft;
  /** The reason why the draft cannot be replayed; undefined if it can. */
  readonly refusal: string | undefined;
  readonly search: PreviewSearch;
  /** Shown above the controls. */
  readonly children?: ReactNode;
  onSearch(search: PreviewSearch): void;
  /** Called when a replay begins. */
  onStart?(): void;
}

/** Replays recorded decisions under a draft: the controls, and the decisions that change. */
export function PreviewRun({ draft, refusal, search, children, onSearch, onStart }: PreviewRunProps) {
  const preview = usePreview();
  const run = (): void => {
    onStart?.();
    preview.start({ draft, search });
  };
  const { input, totals } = preview;
  const isOutdated = input !== undefined && JSON.stringify([input.draft, input.search]) !== JSON.stringify([draft, search]);
  return (
    <>
      <Paper withBorder p="md">
        <Stack>
          {children}
          <PreviewFilters search={search} onSearch={onSearch} />
          <Group>
            <GuardedButton refusal={refusal} onClick={run} loading={preview.isRunning}>
              {texts.run}
            </GuardedButton>
            {preview.isRunning && (
              <Button variant="default" onClick={preview.stop}>
                {texts.stop}
              </Button>
            )}
          </Group>
        </Stack>
      </Paper>
      {preview.error !== undefined && <ProblemAlert error={preview.error} onRetry={run} />}
      {preview.warnings.length > 0 && (
        <Alert color="red" title={texts.warnings}>
          {preview.warnings.map(isolateNames).join(' ')}
        </Alert>
      )}
      {isOutdated && (
        <Alert color="yellow" role="status">
          {texts.outdated}
        </Alert>
      )}
      {totals && input && (
        <div {...(isOutdated && { style: { filter: 'grayscale(1)', opacity: 0.5 } })}>
          <PreviewResult totals={totals} draft={input.draft} fill={input.search.fill === true} />
        </div>
      )}
    </>
  );
}
