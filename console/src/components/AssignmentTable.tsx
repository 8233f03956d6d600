import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { NamedAssignment } from '../api/assignments.ts';
import { policyTexts } from '../texts/policy.ts';
import { sentence } from '../texts/sentence.ts';
import { AssignmentState } from './AssignmentState.tsx';
import { type Column, DataTable } from './DataTable.tsx';
import { TextLink } from './TextLink.tsx';
import { Time } from './Time.tsx';

const texts = policyTexts.assignments;

/** Properties of a table of assignments. */
interface AssignmentTableProps {
  readonly assignments: readonly NamedAssignment[];
  /** Columns before all others, such as a selection. */
  readonly before?: readonly Column<NamedAssignment>[];
  /** True to show the policy of each assignment. */
  readonly namesPolicies?: boolean;
  actions?(assignment: NamedAssignment): ReactNode;
}

/** A table of assignments. */
export function AssignmentTable({ assignments, before = [], namesPolicies = false, actions }: AssignmentTableProps) {
  const columns: readonly Column<NamedAssignment>[] = [
    ...before,
    { key: 'to', title: texts.columns.to, render: ({ kind, name }) => (kind === 'role' ? texts.role(name) : name) },
    ...(namesPolicies
      ? [
          {
            key: 'policy',
            title: texts.columns.policy,
            render: ({ policyId, policyName }: NamedAssignment) => (
              <TextLink to="/policies/$id" params={{ id: policyId }} search={{ tab: 'assignments' }} size="sm" data-open>
                {policyName}
              </TextLink>
            ),
          },
        ]
      : []),
    { key: 'expires', title: texts.columns.expires, render: ({ expiresAt }) => <Expiry at={expiresAt} /> },
    {
      key: 'state',
      title: texts.columns.state,
      render: ({ isActive, expiresAt }) => (
        <AssignmentState isActive={isActive} expiresAt={expiresAt}>
          <Badge color="green">{texts.active}</Badge>
        </AssignmentState>
      ),
    },
    {
      key: 'by',
      title: texts.columns.by,
      render: ({ author, assignedAt }) => (
        <span>
          {sentence`${author} · `}
          <Time at={assignedAt} />
        </span>
      ),
    },
    ...(actions === undefined ? [] : [{ key: 'actions', title: texts.columns.actions, render: actions }]),
  ];
  return <DataTable label={texts.list} columns={columns} items={assignments} idOf={({ id }) => id} />;
}

function Expiry({ at }: { readonly at: string | undefined }) {
  if (at !== undefined) return <Time at={at} />;
  return (
    <Text span c="dimmed" size="sm">
      {texts.never}
    </Text>
  );
}
