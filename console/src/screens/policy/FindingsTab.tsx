import { useInfiniteQuery } from '@tanstack/react-query';
import { findingsQuery } from '../../api/policies.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { FindingList } from '../../components/FindingList.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { policyTexts } from '../../texts/policy.ts';

/** The findings about the stored version of a policy. */
export function FindingsTab({ policyId, onOpen }: { readonly policyId: string; onOpen(path: string): void }) {
  const query = useInfiniteQuery(findingsQuery({ policyId }));
  return (
    <PagedState query={query}>
      {(items) => (items.length === 0 ? <EmptyState {...policyTexts.findings.empty} /> : <FindingList findings={items} onOpen={onOpen} />)}
    </PagedState>
  );
}
