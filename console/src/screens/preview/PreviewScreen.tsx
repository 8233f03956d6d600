import { Alert, Button, Checkbox, Group, JsonInput, Paper, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { type Draft, readDraft, saveDraft } from '../../api/draft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { parseJsonObject } from '../../components/json-objects.ts';
import { Page } from '../../components/Page.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { PreviewResult } from './PreviewResult.tsx';
import { usePreview } from './usePreview.ts';

const RANGES = ['24h', '7d', '30d', 'all'] as const;

/** Replays recorded decisions under a draft, and shows those that change. */
export function PreviewScreen() {
  const [text, setText] = useState(() => printDraft(readDraft()));
  const [range, setRange] = useState<(typeof RANGES)[number]>('7d');
  const [fill, setFill] = useState(false);
  const preview = usePreview();
  const draft = parseJsonObject(text);
  const isEmpty = draft === undefined || Object.keys(draft).length === 0;
  const run = (): void => {
    if (draft === undefined) return;
    saveDraft(draft);
    preview.start({ draft: draft as Draft, range, fill });
  };
  return (
    <Page title={texts.title} description={texts.description}>
      {text === '' && <EmptyState title={texts.noDraft.title} detail={texts.noDraft.detail} />}
      <Paper withBorder p="md">
        <Stack>
          <JsonInput
            label={texts.draft}
            description={texts.draftHelp}
            autosize
            minRows={4}
            maxRows={18}
            value={text}
            error={draft === undefined && texts.json}
            onChange={setText}
          />
          <Group>
            <SegmentedControl
              aria-label={texts.range}
              value={range}
              data={RANGES.map((value) => ({ value, label: decisionsTexts.ranges[value] }))}
              onChange={(value) => setRange(value as (typeof RANGES)[number])}
            />
            <Checkbox label={texts.fill} checked={fill} onChange={({ currentTarget }) => setFill(currentTarget.checked)} />
            <Button onClick={run} disabled={isEmpty} loading={preview.isRunning}>
              {texts.run}
            </Button>
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
          {preview.warnings.join(' ')}
        </Alert>
      )}
      {preview.totals && <PreviewResult totals={preview.totals} draft={draft as Draft} fill={fill} />}
    </Page>
  );
}

function printDraft(draft: Draft | undefined): string {
  return draft === undefined ? '' : JSON.stringify(draft, undefined, 2);
}
