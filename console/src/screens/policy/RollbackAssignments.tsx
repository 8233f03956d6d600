import { List, Stack, Text } from '@mantine/core';
import { nameOf } from '../../components/names-by-id.ts';
import { useRecordNames } from '../../components/record-names.ts';
import { policyTexts } from '../../texts/policy.ts';
import { isolate } from '../../texts/sentence.ts';
import type { ChangedAssignment } from './rollback.ts';

const texts = policyTexts.history;

/** Maximum number of assignments that are named of each outcome. */
const SHOWN = 20;

const OUTCOMES = ['restored', 'revoked', 'skipped'] as const;

/** Properties of the list. */
interface RollbackAssignmentsProps {
  readonly assignments: readonly ChangedAssignment[];
  /** True if the rollback has been done, false if it has been tried. */
  readonly isDone: boolean;
}

/** The assignments that a rollback restores, revokes or skips, by name. */
export function RollbackAssignments({ assignments, isDone }: RollbackAssignmentsProps) {
  const shown = OUTCOMES.map((outcome) => assignments.filter((each) => each.outcome === outcome));
  const references = shown.flatMap((of) =>
    of.slice(0, SHOWN).flatMap(({ userId: id }) => (id === undefined ? [] : [{ resource: 'User', id }])),
  );
  const names = useRecordNames(references);
  if (assignments.length === 0) return <Text size="sm">{texts.sameAssignments}</Text>;
  return (
    <Stack gap="xs" role="status">
      {OUTCOMES.map((outcome, index) => {
        const of = shown[index] ?? [];
        return (
          of.length > 0 && (
            <div key={outcome}>
              <Text size="sm" fw={600}>
                {(isDone ? texts.doneAssignments : texts.triedAssignments)[outcome](of.length)}
              </Text>
              <List size="sm" style={{ overflowWrap: 'anywhere' }}>
                {of.slice(0, SHOWN).map(({ role, userId = '' }) => (
                  <List.Item key={role ?? userId}>
                    {role === undefined ? isolate(nameOf(userId, names) ?? userId) : policyTexts.assignments.role(role)}
                  </List.Item>
                ))}
                {of.length > SHOWN && <List.Item>{texts.moreAssignments(of.length - SHOWN)}</List.Item>}
              </List>
            </div>
          )
        );
      })}
    </Stack>
  );
}
