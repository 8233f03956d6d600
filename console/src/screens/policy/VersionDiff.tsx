import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { type Policy, type PolicyDifference, policyVersionQuery } from '../../api/policies.ts';
import { PolicyDiff } from '../../components/PolicyDiff.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { findRestorations, type RuleRestoration } from './past-rules.ts';

const texts = policyTexts.history.rules;

/** Properties of a comparison. */
interface VersionDiffProps {
  readonly id: string;
  /** Revision of the first version. */
  readonly from: number;
  /** Revision of the other version; the current one if absent. */
  readonly to?: number;
  /** Takes a rule of the first version back into the draft. Without it, rules have no action. */
  readonly onRestore?: OnRestore | undefined;
}

/** Restores one rule of a past version in the draft. */
export type OnRestore = (past: Policy, restoration: RuleRestoration) => void;

/** The differences between two versions of a policy. */
export function VersionDiff({ id, from, to, onRestore }: VersionDiffProps) {
  const query = useQuery({
    queryKey: ['policies', 'diff', id, from, to],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { from, ...(to !== undefined && { to }) } };
      return (await bodyOf(client.GET('/admin/api/policies/{id}/diff', { params, signal }))).data.differences;
    },
  });
  return (
    <div style={{ paddingTop: 12 }}>
      <QueryState query={query} lines={3}>
        {(differences) =>
          onRestore === undefined ? (
            <PolicyDiff differences={differences} />
          ) : (
            <RestorableDiff id={id} from={from} differences={differences} onRestore={onRestore} />
          )
        }
      </QueryState>
    </div>
  );
}

interface RestorableDiffProps extends Pick<VersionDiffProps, 'id' | 'from'> {
  readonly differences: readonly PolicyDifference[];
  readonly onRestore: OnRestore;
}

/** Differences with a button for each rule that can be taken back. */
function RestorableDiff({ id, from, differences, onRestore }: RestorableDiffProps) {
  const { data: past } = useQuery(policyVersionQuery(id, from));
  const restorations = past === undefined ? undefined : findRestorations(differences, past);
  return (
    <PolicyDiff
      differences={differences}
      actionOf={(difference) => {
        const restoration = restorations?.get(difference);
        if (past === undefined || restoration === undefined) return undefined;
        return (
          <Button size="compact-xs" variant="default" onClick={() => onRestore(past, restoration)}>
            {texts[restoration.kind]}
          </Button>
        );
      }}
    />
  );
}
