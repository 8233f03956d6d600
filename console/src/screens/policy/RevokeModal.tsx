import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { changeAssignments, type NamedAssignment, toRevocation } from '../../api/assignments.ts';
import type { Draft } from '../../api/draft.ts';
import type { Policy } from '../../api/policies.ts';
import { AccessChanges } from '../../components/access-change/AccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { policyTexts } from '../../texts/policy.ts';

const texts = policyTexts.assignments;

/** Properties of the dialog. */
export interface RevokeModalProps {
  readonly policy: Policy;
  readonly assignment: NamedAssignment;
  onClose(): void;
}

/** Revokes an assignment, and says what it denies and what it allows again. */
export function RevokeModal({ policy, assignment, onClose }: RevokeModalProps) {
  const queryClient = useQueryClient();
  const { kind, name, role, userId = '' } = assignment;
  const draft: Draft = { removeAssignments: [{ policyId: policy.id, ...(role === undefined ? { userId } : { role }) }] };
  const perform = async (reason: string | undefined) => {
    try {
      await changeAssignments([toRevocation(assignment)], reason);
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
    }
    notifySuccess(texts.revoked);
  };
  return (
    <ConfirmModal isOpen title={texts.revokeTitle(name)} action={texts.revoke} takesReason isWide perform={perform} onClose={onClose}>
      <Text size="sm">{texts.revokeDetail}</Text>
      <AccessChanges subject={{ kind, id: role ?? userId, name }} draft={draft} resources={resourcesOf(policy.rules)} />
    </ConfirmModal>
  );
}
