import { Alert } from '@mantine/core';
import { draftTexts } from '../../texts/draft.ts';

/** Says that the draft of an address cannot be read. */
export function UnreadableDraft() {
  return (
    <Alert color="yellow" title={draftTexts.unreadable.title}>
      {draftTexts.unreadable.detail}
    </Alert>
  );
}
