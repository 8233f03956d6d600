import { Alert, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeAssignments } from '../../api/assignments.ts';
import { type Policy, policyQuery } from '../../api/policies.ts';
import { AccessChanges } from '../../components/access-change/AccessChanges.tsx';
import { ExpiryField } from '../../components/ExpiryField.tsx';
import { toExpiry } from '../../components/expiry.ts';
import { FormModal } from '../../components/FormModal.tsx';
import { notifySuccess, notifyWarning } from '../../components/notify.ts';
import { PolicyPicker } from '../../components/PolicyPicker.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { accessChangeTexts } from '../../texts/access-change.ts';
import { policyTexts } from '../../texts/policy.ts';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.assign;

/** Properties of the dialog. */
export interface AssignPolicyDialogProps {
  readonly userId: string;
  readonly name: string;
  onClose(): void;
}

/** Assigns a policy to a user, and says what it allows and denies them. */
export function AssignPolicyDialog({ userId, name, onClose }: AssignPolicyDialogProps) {
  const queryClient = useQueryClient();
  const [policyId, setPolicyId] = useState<string>();
  const [expiry, setExpiry] = useState('');
  const expiresAt = toExpiry(expiry);
  const { data: policy } = useQuery({ ...policyQuery(policyId ?? ''), enabled: policyId !== undefined });
  const assign = async (reason: string | undefined): Promise<void> => {
    if (policyId === undefined) return;
    const warnings = await changeAssignments([{ op: 'assign', policyId, userId, expiresAt }], reason);
    for (const queryKey of [['users'], ['policies'], ['access']]) await queryClient.invalidateQueries({ queryKey });
    notifySuccess(policyTexts.assignments.done);
    for (const warning of warnings) notifyWarning(policyTexts.assignments.warning(warning));
  };
  return (
    <FormModal
      title={texts.title(name)}
      action={policyTexts.assignments.add}
      isComplete={policyId !== undefined}
      perform={assign}
      onClose={onClose}
    >
      <PolicyPicker label={texts.policy} required value={policyId} onChange={setPolicyId} />
      <TextLink size="sm" to="/policies/new">
        {texts.create}
      </TextLink>
      {policy !== undefined && allowsAll(policy) && <Alert color="yellow">{texts.allowsAll}</Alert>}
      <ExpiryField value={expiry} onChange={setExpiry} />
      {policyId !== undefined && (
        <>
          <Text fw={600}>{accessChangeTexts.title}</Text>
          <AccessChanges
            subject={{ kind: 'user', id: userId, name }}
            draft={{ assignments: [{ policyId, userId, expiresAt }] }}
            resources={undefined}
          />
        </>
      )}
    </FormModal>
  );
}

/** Returns true if a rule of an active policy allows every request. */
function allowsAll({ isActive, rules }: Policy): boolean {
  return (
    isActive &&
    rules.some(
      (rule) => rule.isActive && rule.effect === 'ALLOW' && rule.resource === '*' && rule.action === '*' && rule.conditions.length === 0,
    )
  );
}
