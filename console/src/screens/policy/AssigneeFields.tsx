import { SegmentedControl, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { UserPicker } from '../../components/UserPicker.tsx';
import { policyTexts } from '../../texts/policy.ts';
import type { Assignee } from './policy-draft.ts';

const texts = policyTexts.assignments;

/** The kind of an assignee, and the role or user that is chosen. */
export interface AssigneeInput {
  readonly kind: 'role' | 'user';
  readonly role: Assignee['role'] | undefined;
  readonly userId: string | undefined;
}

/** Properties of the fields. */
interface AssigneeFieldsProps {
  readonly input: AssigneeInput;
  readonly required?: boolean;
  onChange(change: Partial<AssigneeInput>): void;
}

/** The fields that choose a role or a user. */
export function AssigneeFields({ input: { kind, role, userId }, required = false, onChange }: AssigneeFieldsProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  return (
    <>
      <SegmentedControl
        aria-label={texts.to}
        data={[
          { value: 'role', label: texts.kinds.role },
          { value: 'user', label: texts.kinds.user },
        ]}
        value={kind}
        onChange={(next) => onChange({ kind: next as AssigneeInput['kind'] })}
      />
      {kind === 'role' ? (
        <Select
          label={texts.roleField}
          required={required}
          data={catalogue?.roles ?? []}
          value={role ?? null}
          onChange={(next) => onChange({ role: (next ?? undefined) as Assignee['role'] | undefined })}
        />
      ) : (
        <UserPicker label={texts.user} required={required} value={userId} onChange={(next) => onChange({ userId: next })} />
      )}
    </>
  );
}
