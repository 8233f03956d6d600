import { List, Loader, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import type { Draft } from '../../api/draft.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { sentence } from '../../texts/sentence.ts';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { CHANGES, type PreviewTotals } from './preview-totals.ts';
import { usePreview } from './usePreview.ts';

/** Number of groups that are named of each kind of change. */
const SHOWN = 5;

/** The newest recorded decisions that a draft would change. The replay begins when the component is shown, and has one page. */
export function RecordedChanges({ draft }: { readonly draft: Draft }) {
  const { start, totals, isRunning, error } = usePreview();
  const asked = JSON.stringify(draft);
  const run = (): void => start({ draft, search: {}, pages: 1 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the replay begins again for another draft only, and `start` is another function each time
  useEffect(run, [asked]);
  return (
    <Stack gap={4}>
      <Text fw={600}>{texts.recordedTitle}</Text>
      {isRunning && <Loader size="sm" role="status" aria-label={texts.replaying} />}
      {error !== undefined && <ProblemAlert error={error} onRetry={run} />}
      {totals !== undefined && !isRunning && error === undefined && <Found totals={totals} />}
    </Stack>
  );
}

function Found({ totals }: { readonly totals: PreviewTotals }) {
  const kinds = CHANGES.filter((change) => totals[change] > 0);
  return (
    <div role="status">
      <Text size="sm">{kinds.length === 0 ? texts.recordedSame(totals.examined) : texts.recordedOf(totals.examined)}</Text>
      {kinds.map((change) => {
        const groups = totals.samples.filter((sample) => sample.change === change);
        return (
          <div key={change}>
            <Text size="sm">{texts.recordedChange[change](totals[change])}</Text>
            <List size="sm" style={{ overflowWrap: 'anywhere' }}>
              {groups.slice(0, SHOWN).map(({ entry, count, role, action, resource }) => (
                <List.Item key={entry.id}>{sentence`${texts.count(count)} ${role} · ${action} ${resource}`}</List.Item>
              ))}
            </List>
            {groups.length > SHOWN && <Text size="xs">{texts.moreGroups(groups.length - SHOWN)}</Text>}
          </div>
        );
      })}
    </div>
  );
}
