import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type AssignmentChange, changeAssignments, type NamedAssignment } from '../../api/assignments.ts';
import { ExpiryField } from '../../components/ExpiryField.tsx';
import { fromExpiry, toExpiry } from '../../components/expiry.ts';
import { FormModal } from '../../components/FormModal.tsx';
import { NumberBox } from '../../components/NumberBox.tsx';
import { notifySuccess, notifyWarning } from '../../components/notify.ts';
import { policyTexts } from '../../texts/policy.ts';
import { AssigneeFields, type AssigneeInput } from './AssigneeFields.tsx';

const texts = policyTexts.assignments;

/** Properties of the dialog. */
export interface AssignModalProps {
  readonly policyId: string;
  /** The assignment whose expiry changes; undefined for a new one. */
  readonly assignment?: NamedAssignment;
  onClose(): void;
}

interface AssignInput extends AssigneeInput {
  /** Local time, as in its field; empty for no expiry. */
  readonly expiry: string;
  readonly priority: number;
}

/** Assigns a policy to a role or user, or changes the expiry of an assignment. */
export function AssignModal({ policyId, assignment, onClose }: AssignModalProps) {
  const queryClient = useQueryClient();
  const [input, setInput] = useState<AssignInput>({
    kind: assignment?.kind ?? 'role',
    role: assignment?.role,
    userId: assignment?.userId,
    expiry: fromExpiry(assignment?.expiresAt),
    priority: assignment?.priority ?? 100,
  });
  const perform = async (reason: string | undefined) => {
    let warnings: readonly string[];
    try {
      warnings = await changeAssignments([toChange(input, policyId, assignment)], reason);
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
    }
    notifySuccess(assignment === undefined ? texts.done : texts.changed);
    for (const warning of warnings) notifyWarning(texts.warning(warning));
  };
  const isComplete = input.kind === 'role' ? input.role !== undefined : input.userId !== undefined;
  return (
    <FormModal
      title={assignment === undefined ? texts.addTitle : texts.expiryAction}
      action={assignment === undefined ? texts.add : texts.expiryAction}
      isComplete={isComplete}
      perform={perform}
      onClose={onClose}
    >
      <AssignFields input={input} isNew={assignment === undefined} onChange={(change) => setInput({ ...input, ...change })} />
    </FormModal>
  );
}

function toChange(
  { kind, role, userId, expiry, priority }: AssignInput,
  policyId: string,
  assignment: NamedAssignment | undefined,
): AssignmentChange {
  const op = assignment === undefined ? { op: 'assign' as const } : { op: 'update' as const, version: assignment.version };
  if (kind === 'role') return { ...op, policyId, ...(role !== undefined && { role }), priority };
  return { ...op, policyId, ...(userId !== undefined && { userId }), expiresAt: toExpiry(expiry, assignment?.expiresAt) };
}

interface AssignFieldsProps {
  readonly input: AssignInput;
  readonly isNew: boolean;
  onChange(change: Partial<AssignInput>): void;
}

function AssignFields({ input, isNew, onChange }: AssignFieldsProps) {
  const { kind, expiry, priority } = input;
  return (
    <Stack>
      {isNew && <AssigneeFields input={input} required onChange={onChange} />}
      {kind === 'user' ? (
        <ExpiryField value={expiry} onChange={(next) => onChange({ expiry: next })} />
      ) : (
        <NumberBox
          label={texts.priority}
          description={texts.priorityHelp}
          isInteger
          value={priority}
          onChange={(next) => onChange({ priority: next })}
        />
      )}
    </Stack>
  );
}
