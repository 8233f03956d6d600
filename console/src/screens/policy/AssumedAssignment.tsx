import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { policyTexts } from '../../texts/policy.ts';
import { AssigneeFields } from './AssigneeFields.tsx';
import type { Assignee } from './policy-draft.ts';

const texts = policyTexts.previewing;

/** Properties of the assumption. */
export interface AssumedAssignmentProps {
  readonly assignee: Assignee | undefined;
  /** Called with `role:` and a role, or `user:` and an id; with an empty text if none is chosen. */
  onChange(assumed: string): void;
}

/** The role or user that a new policy is assumed to be assigned to. It is tried with the draft, and not stored. */
export function AssumedAssignment({ assignee: { role, userId } = {}, onChange }: AssumedAssignmentProps) {
  const [kind, setKind] = useState<'role' | 'user'>(userId === undefined ? 'role' : 'user');
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {texts.assume}
      </Text>
      <Group align="flex-end">
        <AssigneeFields
          input={{ kind, role, userId }}
          onChange={(change) => {
            if (change.kind !== undefined) setKind(change.kind);
            onChange(change.role !== undefined ? `role:${change.role}` : change.userId !== undefined ? `user:${change.userId}` : '');
          }}
        />
      </Group>
    </Stack>
  );
}
