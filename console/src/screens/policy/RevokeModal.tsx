import { List, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { changeAssignments, type NamedAssignment, toRevocation } from '../../api/assignments.ts';
import type { Policy } from '../../api/policies.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { policyTexts } from '../../texts/policy.ts';

const texts = policyTexts.assignments;

/** Properties of the dialog. */
interface RevokeModalProps {
  readonly policy: Policy;
  readonly assignment: NamedAssignment;
  onClose(): void;
}

/** Revokes an assignment, and says what it denies and what it allows again. */
export function RevokeModal({ policy, assignment, onClose }: RevokeModalProps) {
  const queryClient = useQueryClient();
  const active = policy.rules.filter(({ isActive }) => isActive);
  const allows = active.filter(({ effect }) => effect === 'ALLOW').length;
  const denies = active.length - allows;
  const perform = async (reason: string | undefined) => {
    await changeAssignments([toRevocation(assignment)], reason);
    await queryClient.invalidateQueries({ queryKey: ['policies'] });
    notifySuccess(texts.revoked);
  };
  return (
    <ConfirmModal isOpen title={texts.revokeTitle(assignment.name)} action={texts.revoke} takesReason perform={perform} onClose={onClose}>
      <Text size="sm">{texts.revokeDetail}</Text>
      <List size="sm">
        {allows > 0 && <List.Item>{texts.revokeAllows(allows)}</List.Item>}
        {denies > 0 && <List.Item>{texts.revokeDenies(denies)}</List.Item>}
      </List>
    </ConfirmModal>
  );
}
