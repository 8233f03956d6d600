import { JsonInput, Text } from '@mantine/core';
import { useState } from 'react';
import type { Draft } from '../../api/draft.ts';
import { UnreadableDraft } from '../../components/draft/UnreadableDraft.tsx';
import { useLinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { parseJsonObject } from '../../components/json-objects.ts';
import { Page } from '../../components/Page.tsx';
import { PreviewRun } from '../../components/preview/PreviewRun.tsx';
import { draftTexts } from '../../texts/draft.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { previewRoute } from './route.ts';

/** Replays recorded decisions under a draft of any changes, and shows those that change. */
export function PreviewScreen() {
  const search = previewRoute.useSearch();
  const navigate = previewRoute.useNavigate();
  const linked = useLinkedDraft();
  const [typed, setTyped] = useState<string>();
  const text = typed ?? printDraft(linked.draft);
  const draft = parseJsonObject(text);
  const isEmpty = draft !== undefined && Object.keys(draft).length === 0;
  const refusal = draft === undefined ? texts.unreadable : isEmpty ? texts.noDraft.title : undefined;
  return (
    <Page title={texts.title} description={texts.description}>
      {linked.isUnreadable && <UnreadableDraft />}
      {text === '' && !linked.isPending && !linked.isUnreadable && <EmptyState title={texts.noDraft.title} detail={texts.noDraft.detail} />}
      <PreviewRun
        draft={(draft ?? {}) as Draft}
        refusal={refusal}
        search={search}
        onSearch={(next) => void navigate({ search: next, hash: true, replace: true })}
        onStart={() => draft !== undefined && linked.replace(draft)}
      >
        <JsonInput
          label={texts.draft}
          description={texts.draftHelp}
          autosize
          minRows={4}
          maxRows={18}
          value={text}
          error={draft === undefined && texts.json}
          onChange={setTyped}
        />
        {linked.draft !== undefined && (
          <Text size="xs" c="dimmed">
            {linked.isInAddress ? draftTexts.inAddress : draftTexts.tooLong}
          </Text>
        )}
      </PreviewRun>
    </Page>
  );
}

function printDraft(draft: Draft | undefined): string {
  return draft === undefined ? '' : JSON.stringify(draft, undefined, 2);
}
