import { useQuery } from '@tanstack/react-query';
import { type Policy, policyQuery } from '../../api/policies.ts';
import { catalogueQuery } from '../../api/queries.ts';
import type { Catalogue } from '../../components/condition/condition-paths.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { PolicyEditor } from './PolicyEditor.tsx';
import { EMPTY_POLICY } from './policy-draft.ts';
import { policyRoute } from './route.ts';
import { usePolicyEditor } from './usePolicyEditor.ts';

/** A stored policy: its rules, text, assignments, history and findings. */
export function PolicyScreen() {
  const { id } = policyRoute.useParams();
  const search = policyRoute.useSearch();
  const navigate = policyRoute.useNavigate();
  const policy = useQuery(policyQuery(id));
  const catalogue = useQuery(catalogueQuery);
  return (
    <QueryState query={catalogue} lines={12}>
      {(definitions) => (
        <QueryState query={policy} lines={12}>
          {(stored) => (
            <StoredPolicy
              key={id}
              policy={stored}
              catalogue={definitions}
              search={search}
              onSearch={(next) => void navigate({ search: next, replace: true })}
            />
          )}
        </QueryState>
      )}
    </QueryState>
  );
}

interface StoredPolicyProps {
  readonly policy: Policy;
  readonly catalogue: Catalogue;
  readonly search: ReturnType<typeof policyRoute.useSearch>;
  onSearch(search: ReturnType<typeof policyRoute.useSearch>): void;
}

function StoredPolicy({ policy, catalogue, search, onSearch }: StoredPolicyProps) {
  const editor = usePolicyEditor(policy, EMPTY_POLICY);
  return <PolicyEditor editor={editor} stored={policy} catalogue={catalogue} search={search} onSearch={onSearch} />;
}
