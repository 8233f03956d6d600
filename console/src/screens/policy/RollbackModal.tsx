import { Button, Checkbox, Group, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type Policy, policyQuery, policyVersionQuery } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { RecordedChanges } from '../../components/preview/RecordedChanges.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import { toPastDraft, toPolicyDraft } from './policy-draft.ts';
import { RollbackAssignments } from './RollbackAssignments.tsx';
import { type RollbackTarget, rollBack, triedRollbackQuery } from './rollback.ts';
import { VersionDiff } from './VersionDiff.tsx';

const texts = policyTexts.history;

/** Properties of the dialog. */
export interface RollbackModalProps extends RollbackTarget {
  onClose(): void;
}

/** Restores an earlier version of a policy, with a reason. Assignments are restored only on request; the dialog then says what became of each. */
export function RollbackModal({ item, version, onClose }: RollbackModalProps) {
  const { policy, revision, change } = item;
  const isDeleted = change === 'deleted';
  const navigate = useNavigate();
  const close = () => {
    onClose();
    if (isDeleted) void navigate({ to: '/policies/$id', params: { id: policy.id } });
  };
  const rollback = useRollback({ item, version }, close);
  const changed = rollback.data?.assignments ?? [];
  const isDone = rollback.isSuccess && changed.length > 0;
  return (
    <Dialog
      opened
      isBusy={rollback.isPending}
      onClose={isDone ? close : onClose}
      size="lg"
      title={isDeleted ? texts.restoreTitle(policy.name ?? policy.id) : texts.rollbackTitle(revision)}
    >
      {isDone ? (
        <Stack>
          <Text size="sm">{isDeleted ? texts.restored : texts.rolledBack}</Text>
          <RollbackAssignments assignments={changed} isDone />
          <Group justify="flex-end">
            <Button onClick={close} data-autofocus>
              {commonTexts.close}
            </Button>
          </Group>
        </Stack>
      ) : (
        <RollbackForm target={{ item, version }} rollback={rollback} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RollbackFormProps {
  readonly target: RollbackTarget;
  readonly rollback: ReturnType<typeof useRollback>;
  onClose(): void;
}

function RollbackForm({ target, rollback, onClose }: RollbackFormProps) {
  const { item, version } = target;
  const { policy, revision, change } = item;
  const isDeleted = change === 'deleted';
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const [assignments, setAssignments] = useState(false);
  return (
    // The message is that of the console, not that of the browser.
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (reason.trim() !== '') rollback.mutate({ reason, assignments });
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
        <TextInput
          label={commonTexts.reason}
          description={texts.reasonHelp}
          required
          error={isTried && reason.trim() === '' ? texts.noReason : undefined}
          maxLength={500}
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <Checkbox label={texts.assignments} checked={assignments} onChange={({ currentTarget }) => setAssignments(currentTarget.checked)} />
        {assignments && <TriedAssignments target={target} />}
        {rollback.error !== null && <ProblemAlert error={rollback.error} onRepeat={() => rollback.mutate({ reason, assignments })} />}
        <Group justify="flex-end">
          <Button variant="default" disabled={rollback.isPending} onClick={onClose}>
            {commonTexts.cancel}
          </Button>
          <Button type="submit" loading={rollback.isPending}>
            {isDeleted ? texts.restore : texts.rollback}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The assignments that the rollback would change. */
function TriedAssignments({ target }: { readonly target: RollbackTarget }) {
  const tried = useQuery(triedRollbackQuery(target));
  return (
    <QueryState query={tried} lines={2}>
      {(assignments) => (
        <ScrollArea.Autosize mah="25vh" type="auto">
          <RollbackAssignments assignments={assignments} isDone={false} />
        </ScrollArea.Autosize>
      )}
    </QueryState>
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

function useRollback(target: RollbackTarget, close: () => void) {
  const queryClient = useQueryClient();
  const isDeleted = target.item.change === 'deleted';
  const watch = useScreenWatch();
  return useMutation({
    mutationFn: async (input: { readonly reason: string; readonly assignments: boolean }) => {
      const isScreenOpen = watch();
      return { ...(await rollBack(target, input)), isScreenOpen: isScreenOpen() };
    },
    onSuccess: async ({ assignments, isScreenOpen }) => {
      // With assignments, the dialog names them.
      if (assignments.length === 0 || !isScreenOpen) notifySuccess(isDeleted ? texts.restored : texts.rolledBack);
      if (assignments.length === 0 && isScreenOpen) close();
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
    },
    // Another user may have changed the policy: the next attempt replaces the present version.
    onError: () => queryClient.invalidateQueries({ queryKey: ['policies'] }),
  });
}
