import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { findingsQuery } from '../../api/policies.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { FindingList } from '../../components/FindingList.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { policyTexts } from '../../texts/policy.ts';

/** Properties of the findings. */
export interface FindingsTabProps {
  readonly policyId: string;
  /** Opens the rule with a path; the rules without one. */
  onOpen(path?: string): void;
}

/** The findings about the stored version of a policy. */
export function FindingsTab({ policyId, onOpen }: FindingsTabProps) {
  const query = useInfiniteQuery(findingsQuery({ policyId }));
  return (
    <PagedState query={query}>
      {(items) =>
        items.length === 0 ? (
          <EmptyState
            {...policyTexts.findings.empty}
            action={
              <Button variant="default" onClick={() => onOpen()}>
                {policyTexts.findings.showRules}
              </Button>
            }
          />
        ) : (
          <FindingList findings={items} onOpen={onOpen} />
        )
      }
    </PagedState>
  );
}
