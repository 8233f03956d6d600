import type { Policy } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { type DraftJson, rulesOf, toPolicyDraft } from './policy-draft.ts';

/** The permissions that the draft of a policy denies and allows, for the roles and users that the policy is assigned to. */
export function DraftChanges({ base, draft }: { readonly base: Policy; readonly draft: DraftJson }) {
  return (
    <PolicyAccessChanges
      policyIds={[base.id]}
      draft={toPolicyDraft(draft, base.id)}
      resources={resourcesOf([...base.rules, ...(rulesOf(draft) ?? [])])}
    />
  );
}
