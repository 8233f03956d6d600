import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type Policy } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

const texts = policyTexts.deleting;

/** Properties of the deletion of a policy. */
export interface DeletePolicyProps {
  readonly policy: Policy;
  readonly editor: PolicyEditorState;
  onClose(): void;
}

/** Deletes a policy after its name is typed. It shows the permissions that the deletion changes. */
export function DeletePolicy({ policy, editor, onClose }: DeletePolicyProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const perform = async (reason: string | undefined) => {
    const params = { path: { id: policy.id }, header: ifMatch(policy.version), query: reason === undefined ? {} : { reason } };
    await bodyOf(client.DELETE('/admin/api/policies/{id}', { params }));
    // Without changes, so that the screen can be left.
    editor.discard();
    queryClient.removeQueries({ queryKey: ['policies', 'one', policy.id] });
    await queryClient.invalidateQueries({ queryKey: ['policies', 'list'] });
    notifySuccess(texts.done);
    await navigate({ to: '/policies', ignoreBlocker: true });
  };
  return (
    <ConfirmModal
      isOpen
      title={texts.title(policy.name)}
      action={commonTexts.delete}
      word={policy.name}
      takesReason
      isWide
      perform={perform}
      onClose={onClose}
    >
      <Text size="sm">{texts.detail}</Text>
      <PolicyAccessChanges policyIds={[policy.id]} draft={{ removePolicies: [policy.id] }} resources={resourcesOf(policy.rules)} />
    </ConfirmModal>
  );
}
