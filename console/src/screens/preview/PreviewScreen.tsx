import { Button, JsonInput, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Draft } from '../../api/draft.ts';
import { UnreadableDraft } from '../../components/draft/UnreadableDraft.tsx';
import { useLinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { parseJsonObject } from '../../components/json-objects.ts';
import { LeaveGuard } from '../../components/LeaveGuard.tsx';
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
      {text === '' && !linked.isPending && !linked.isUnreadable && (
        <EmptyState
          title={texts.noDraft.title}
          detail={texts.noDraft.detail}
          action={
            <Button component={Link} to="/policies" variant="default">
              {texts.noDraft.action}
            </Button>
          }
        />
      )}
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
      {/* A draft that was replayed is in the address or in the tab. */}
      <LeaveGuard isDirty={typed !== undefined && !isKept(typed, linked.draft)} />
    </Page>
  );
}

/** Returns true if a text means the draft that is kept. Without a draft, an empty text does. */
function isKept(typed: string, kept: Draft | undefined): boolean {
  const draft = parseJsonObject(typed);
  return draft !== undefined && JSON.stringify(draft) === JSON.stringify(kept ?? {});
}

function printDraft(draft: Draft | undefined): string {
  return draft === undefined ? '' : JSON.stringify(draft, undefined, 2);
}
