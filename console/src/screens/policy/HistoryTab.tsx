import { Alert, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery, type Policy } from '../../api/policies.ts';
import { notifySuccess } from '../../components/notify.ts';
import { PagedState } from '../../components/PagedState.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { PolicyTimeline } from './PolicyTimeline.tsx';
import { restoreRule } from './past-rules.ts';
import type { PolicySearch } from './policy-search.ts';
import { previousRevision } from './previous-revision.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import type { OnRestore } from './VersionDiff.tsx';

const { history: texts, managed } = policyTexts;

/** Properties of the history. */
export interface HistoryTabProps {
  readonly policy: Policy;
  readonly editor: Pick<PolicyEditorState, 'draft' | 'text' | 'isDirty' | 'change'>;
  /** True to begin with the differences of the previous revision. */
  readonly isComparing: boolean;
  onSearch(search: PolicySearch): void;
}

/** The changes of a policy and its assignments. */
export function HistoryTab({ policy, editor, isComparing, onSearch }: HistoryTabProps) {
  const { draft, text, isDirty, change } = editor;
  const query = useInfiniteQuery(historyQuery(policy.id));
  const refusal = policy.managedBy !== undefined ? managed.refusal(policy.file ?? '') : isDirty ? texts.unsaved : undefined;
  const restore: OnRestore = (past, restoration) => {
    const { draft: restored, index } = restoreRule(draft, past, restoration);
    change(restored);
    notifySuccess(texts.restoredRules[restoration.kind]);
    onSearch({ tab: 'rules', ...(index !== undefined && { at: `rules.${index}` }) });
  };
  return (
    <>
      {isDirty && (
        <Alert color="yellow" mb="sm">
          {texts.unsaved}
        </Alert>
      )}
      <Text size="sm" mb="sm">
        {policyTexts.revisionHelp}
      </Text>
      <PagedState query={query}>
        {(changes) => (
          <PolicyTimeline
            items={changes}
            current={policy.version}
            refusal={refusal}
            compared={isComparing ? previousRevision(changes, policy.version) : undefined}
            // Without the action while the typed text has a mistake: the draft is then older than the text.
            onRestore={text?.mistake === undefined ? restore : undefined}
          />
        )}
      </PagedState>
    </>
  );
}
