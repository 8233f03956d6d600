import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { accessChangeTexts as texts } from '../../texts/access-change.ts';
import { QueryState } from '../QueryState.tsx';
import type { ComparedDraft } from './AccessChanges.tsx';
import { AccessChangesOfSubjects } from './AccessChangesOfSubjects.tsx';
import { firstAssignmentsQuery } from './queries.ts';

/** Properties of the changes by policies. */
export interface PolicyAccessChangesProps extends ComparedDraft {
  readonly policyIds: readonly string[];
}

/** The permissions that a change of policies denies and allows, for the roles and users that they are assigned to. */
export function PolicyAccessChanges({ policyIds, ...compared }: PolicyAccessChangesProps) {
  const query = useQuery(firstAssignmentsQuery(policyIds));
  return (
    <Stack gap="xs">
      <Text fw={600}>{texts.title}</Text>
      <QueryState query={query} lines={2}>
        {({ assignments, isMore }) =>
          assignments.length === 0 ? (
            <Text size="sm">{texts.notAssigned}</Text>
          ) : (
            <AccessChangesOfSubjects assignments={assignments} isMore={isMore} {...compared} />
          )
        }
      </QueryState>
    </Stack>
  );
}
