import { Alert } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery, type Policy } from '../../api/policies.ts';
import { PagedState } from '../../components/PagedState.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { PolicyTimeline } from './PolicyTimeline.tsx';

const { unsaved } = policyTexts.history;

/** Properties of the history. */
export interface HistoryTabProps {
  readonly policy: Policy;
  /** True if the editor has unsaved changes. */
  readonly isDirty: boolean;
}

/** The changes of a policy and its assignments. */
export function HistoryTab({ policy, isDirty }: HistoryTabProps) {
  const query = useInfiniteQuery(historyQuery(policy.id));
  const refusal = policy.managedBy !== undefined ? policyTexts.managed.refusal(policy.file ?? '') : isDirty ? unsaved : undefined;
  return (
    <>
      {isDirty && (
        <Alert color="yellow" mb="sm">
          {unsaved}
        </Alert>
      )}
      <PagedState query={query}>{(changes) => <PolicyTimeline items={changes} current={policy.version} refusal={refusal} />}</PagedState>
    </>
  );
}
