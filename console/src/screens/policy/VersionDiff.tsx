import { useQuery } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { PolicyDiff } from '../../components/PolicyDiff.tsx';
import { QueryState } from '../../components/QueryState.tsx';

/** Properties of a comparison. */
interface VersionDiffProps {
  readonly id: string;
  /** Revision of the first version. */
  readonly from: number;
  /** Revision of the other version; the current one if absent. */
  readonly to?: number;
}

/** The differences between two versions of a policy. */
export function VersionDiff({ id, from, to }: VersionDiffProps) {
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
        {(differences) => <PolicyDiff differences={differences} />}
      </QueryState>
    </div>
  );
}
