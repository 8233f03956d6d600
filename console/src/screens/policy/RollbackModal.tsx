import { Button, Checkbox, Group, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type Policy, type PolicyHistoryItem, policyQuery, policyVersionQuery } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { RecordedChanges } from '../../components/preview/RecordedChanges.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import { toPastDraft, toPolicyDraft } from './policy-draft.ts';
import { VersionDiff } from './VersionDiff.tsx';

const texts = policyTexts.history;

/** Properties of the dialog. */
export interface RollbackModalProps {
  /** The change that created the version to return to, or that deleted the policy. */
  readonly item: PolicyHistoryItem;
  /** The version that the rollback replaces; of a deleted policy, the revision that deleted it. */
  readonly version: number;
  onClose(): void;
}

/** Restores an earlier version of a policy, with a reason. Assignments are restored only on request. */
export function RollbackModal({ item, version, onClose }: RollbackModalProps) {
  const { policy, revision, change } = item;
  const isDeleted = change === 'deleted';
  const [reason, setReason] = useState('');
  const [assignments, setAssignments] = useState(false);
  const rollback = useRollback(item, version, onClose);
  return (
    <Dialog
      opened
      onClose={onClose}
      size="lg"
      title={isDeleted ? texts.restoreTitle(policy.name ?? policy.id) : texts.rollbackTitle(revision)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rollback.mutate({ reason, assignments });
        }}
      >
        <Stack>
          <Text size="sm">{isDeleted ? texts.restoreDetail : texts.rollbackDetail}</Text>
          {!isDeleted && (
            <ScrollArea.Autosize mah="45vh" type="auto">
              {assignments && (
                <Text size="sm" mb="xs">
                  {texts.assignmentsNotCompared}
                </Text>
              )}
              <Consequences id={policy.id} revision={revision} />
              <Text fw={600} mt="sm">
                {texts.rollbackChanges}
              </Text>
              <VersionDiff id={policy.id} from={version} to={revision} />
            </ScrollArea.Autosize>
          )}
          {isDeleted && !assignments && <Text size="sm">{texts.restoreUnassigned}</Text>}
          {rollback.error !== null && <ProblemAlert error={rollback.error} onRepeat={() => rollback.mutate({ reason, assignments })} />}
          <TextInput
            label={texts.reasonRequired}
            required
            maxLength={500}
            data-autofocus
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
          <Checkbox
            label={texts.assignments}
            checked={assignments}
            onChange={({ currentTarget }) => setAssignments(currentTarget.checked)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {commonTexts.cancel}
            </Button>
            <Button type="submit" loading={rollback.isPending}>
              {isDeleted ? texts.restore : texts.rollback}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The permissions and the recorded decisions that a version changes. */
function Consequences({ id, revision }: { readonly id: string; readonly revision: number }) {
  const past = useQuery(policyVersionQuery(id, revision));
  const present = useQuery(policyQuery(id));
  return (
    <QueryState query={past} lines={3}>
      {(version) => (
        <QueryState query={present} lines={3}>
          {(policy) => <ConsequencesOf past={version} present={policy} />}
        </QueryState>
      )}
    </QueryState>
  );
}

function ConsequencesOf({ past, present }: { readonly past: Policy; readonly present: Policy }) {
  const draft = useMemo(() => toPolicyDraft(toPastDraft(past, present), past.id), [past, present]);
  return (
    <Stack gap="sm">
      <RecordedChanges draft={draft} />
      <PolicyAccessChanges policyIds={[past.id]} draft={draft} resources={resourcesOf([...present.rules, ...past.rules])} />
    </Stack>
  );
}

interface RollbackInput {
  readonly reason: string;
  readonly assignments: boolean;
}

function useRollback({ policy: { id }, revision, change }: PolicyHistoryItem, version: number, onClose: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isDeleted = change === 'deleted';
  return useMutation({
    mutationFn: ({ reason, assignments }: RollbackInput) => {
      // The last version of a deleted policy is the one before the revision that deleted it.
      const body = { reason, assignments, revision: isDeleted ? revision - 1 : revision };
      return bodyOf(client.POST('/admin/api/policies/{id}/rollback', { params: { path: { id }, header: ifMatch(version) }, body }));
    },
    onSuccess: async ({ assignments }) => {
      const skipped = assignments.filter(({ outcome }) => outcome === 'skipped').length;
      notifySuccess(`${isDeleted ? texts.restored : texts.rolledBack} ${skipped > 0 ? texts.skipped(skipped) : ''}`.trim());
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
      if (isDeleted) await navigate({ to: '/policies/$id', params: { id } });
    },
  });
}
