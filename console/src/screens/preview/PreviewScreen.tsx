import { JsonInput } from '@mantine/core';
import { useState } from 'react';
import { type Draft, readDraft, saveDraft } from '../../api/draft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { parseJsonObject } from '../../components/json-objects.ts';
import { Page } from '../../components/Page.tsx';
import { PreviewRun } from '../../components/preview/PreviewRun.tsx';
import { previewTexts as texts } from '../../texts/preview.ts';
import { previewRoute } from './route.ts';

/** Replays recorded decisions under a draft of any changes, and shows those that change. */
export function PreviewScreen() {
  const search = previewRoute.useSearch();
  const navigate = previewRoute.useNavigate();
  const [text, setText] = useState(() => printDraft(readDraft()));
  const draft = parseJsonObject(text);
  const isEmpty = draft !== undefined && Object.keys(draft).length === 0;
  const refusal = draft === undefined ? texts.unreadable : isEmpty ? texts.noDraft.title : undefined;
  return (
    <Page title={texts.title} description={texts.description}>
      {text === '' && <EmptyState title={texts.noDraft.title} detail={texts.noDraft.detail} />}
      <PreviewRun
        draft={(draft ?? {}) as Draft}
        refusal={refusal}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
        onStart={() => draft !== undefined && saveDraft(draft)}
      >
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
      </PreviewRun>
    </Page>
  );
}

function printDraft(draft: Draft | undefined): string {
  return draft === undefined ? '' : JSON.stringify(draft, undefined, 2);
}
