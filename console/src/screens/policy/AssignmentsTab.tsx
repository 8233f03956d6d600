import { Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { assignmentsQuery, type NamedAssignment } from '../../api/assignments.ts';
import type { Policy } from '../../api/policies.ts';
import { AssignmentTable } from '../../components/AssignmentTable.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LazyPart } from '../../components/LazyPart.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { assignDialog, revokeDialog } from './policy-parts.ts';

const texts = policyTexts.assignments;

type Opened = { readonly dialog: 'assign' } | { readonly dialog: 'change' | 'revoke'; readonly assignment: NamedAssignment };

/** Properties of the assignments of a policy. */
export interface AssignmentsTabProps {
  readonly policy: Policy;
  /** True to begin with the dialog that assigns the policy. */
  readonly isAssigning: boolean;
  /** Called when that dialog is closed. */
  onAssigned(): void;
}

/** The users and roles that a policy is assigned to. */
export function AssignmentsTab({ policy, isAssigning, onAssigned }: AssignmentsTabProps) {
  const [opened, setOpened] = useState<Opened | undefined>(isAssigning ? { dialog: 'assign' } : undefined);
  const query = useInfiniteQuery(assignmentsQuery({ policyId: policy.id }));
  const loaded = query.data?.pages.flatMap(({ items }) => items) ?? [];
  /** Returns an assignment as the list has it at present, so that a change that was refused can be tried again. */
  const present = (assignment: NamedAssignment) => loaded.find(({ id }) => id === assignment.id) ?? assignment;
  const close = () => {
    setOpened(undefined);
    if (isAssigning) onAssigned();
  };
  const assign = <Button onClick={() => setOpened({ dialog: 'assign' })}>{texts.add}</Button>;
  return (
    <>
      <PagedState query={query}>
        {(assignments) =>
          assignments.length === 0 ? (
            <EmptyState {...texts.empty} action={assign} />
          ) : (
            <>
              <Group justify="flex-end" mb="sm">
                {assign}
              </Group>
              <AssignmentTable
                assignments={assignments}
                actions={(assignment) => (
                  <RowActions
                    assignment={assignment}
                    file={policy.file ?? ''}
                    onChange={() => setOpened({ dialog: 'change', assignment })}
                    onRevoke={() => setOpened({ dialog: 'revoke', assignment })}
                  />
                )}
              />
            </>
          )
        }
      </PagedState>
      {opened?.dialog === 'assign' && <LazyPart part={assignDialog} props={{ policyId: policy.id, onClose: close }} lines={0} />}
      {opened?.dialog === 'change' && (
        <LazyPart part={assignDialog} props={{ policyId: policy.id, assignment: present(opened.assignment), onClose: close }} lines={0} />
      )}
      {opened?.dialog === 'revoke' && (
        <LazyPart part={revokeDialog} props={{ policy, assignment: present(opened.assignment), onClose: close }} lines={0} />
      )}
    </>
  );
}

interface RowActionsProps {
  readonly assignment: NamedAssignment;
  /** The file that lists the roles of the policy. */
  readonly file: string;
  onChange(): void;
  onRevoke(): void;
}

function RowActions({ assignment: { kind, name, managedBy }, file, onChange, onRevoke }: RowActionsProps) {
  if (managedBy !== undefined) return policyTexts.managed.role(file);
  return (
    <Group gap={6}>
      {kind === 'user' && (
        <Button size="compact-xs" variant="default" onClick={onChange}>
          {texts.expiryAction}
        </Button>
      )}
      <Button size="compact-xs" variant="light" color="red" aria-label={texts.revokeOf(name)} onClick={onRevoke}>
        {texts.revoke}
      </Button>
    </Group>
  );
}
