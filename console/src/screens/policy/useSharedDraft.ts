import { useEffect } from 'react';
import type { Schemas } from '../../api/client.ts';
import { discardDraft, saveDraft } from '../../api/draft.ts';
import { toChange } from './policy-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

/** Keeps the unsaved changes of an editor where other screens can try them. Without changes, there is no draft. */
export function useSharedDraft({ base, draft, isDirty }: PolicyEditorState): void {
  useEffect(() => {
    if (!isDirty) {
      discardDraft();
      return;
    }
    const policy = { ...toChange(draft), ...(base !== undefined && { id: base.id }) };
    saveDraft({ policies: [policy as Schemas['admin.PolicyChange']] });
  }, [base, draft, isDirty]);
}
