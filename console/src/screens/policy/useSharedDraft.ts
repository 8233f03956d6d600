import { useEffect } from 'react';
import { discardDraft, saveDraft } from '../../api/draft.ts';
import { toPolicyDraft } from './policy-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

/** Keeps the unsaved changes of an editor where other screens can try them. Without changes, there is no draft. */
export function useSharedDraft({ base, draft, isDirty }: PolicyEditorState): void {
  useEffect(() => {
    if (!isDirty) {
      discardDraft();
      return;
    }
    saveDraft(toPolicyDraft(draft, base?.id));
  }, [base, draft, isDirty]);
}
