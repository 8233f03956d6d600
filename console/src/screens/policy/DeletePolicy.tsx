import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type Policy } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
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
  const watch = useScreenWatch();
  const perform = async (reason: string | undefined) => {
    const isOpen = watch();
    const params = { path: { id: policy.id }, header: ifMatch(policy.version), query: reason === undefined ? {} : { reason } };
    try {
      await bodyOf(client.DELETE('/admin/api/policies/{id}', { params }));
    } catch (error) {
      // Another user may have changed the policy: the next attempt is about the present version.
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
      throw error;
    }
    // Without changes, so that the screen can be left.
    editor.discard();
    queryClient.removeQueries({ queryKey: ['policies', 'one', policy.id] });
    await queryClient.invalidateQueries({ queryKey: ['policies', 'list'] });
    notifySuccess(texts.done);
    if (isOpen()) await navigate({ to: '/policies', ignoreBlocker: true });
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
