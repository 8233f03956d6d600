import { Button, Group, List, Paper, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type PolicySummary } from '../../api/policies.ts';
import type { PolicyAccessChangesProps } from '../../components/access-change/PolicyAccessChanges.tsx';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { commonTexts } from '../../texts/common.ts';
import { policiesTexts } from '../../texts/policies.ts';
import { managedRefusal, type Refusal, toError } from './bulk-refusals.ts';

const texts = policiesTexts.bulk;

const accessChanges = createPart<PolicyAccessChangesProps>(
  async () => (await import('../../components/access-change/PolicyAccessChanges.tsx')).PolicyAccessChanges,
);

/** Properties of the bar. */
interface BulkActionsProps {
  /** The selected policies, as the list shows them at present. */
  readonly policies: readonly PolicySummary[];
  onDone(): void;
}

/** Activates or deactivates the selected policies after a typed confirmation. */
export function BulkActions({ policies, onDone }: BulkActionsProps) {
  const [target, setTarget] = useState<boolean>();
  const queryClient = useQueryClient();
  const isActive = target ?? false;
  const count = policies.length;
  const perform = async (reason: string | undefined) => {
    try {
      await setActive(policies, isActive, reason);
      notifySuccess(isActive ? texts.activated(count) : texts.deactivated(count));
      onDone();
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
    }
  };
  return (
    <Paper withBorder p="xs">
      <Group gap="sm">
        <Text size="sm">{texts.selected(count)}</Text>
        <GuardedButton size="xs" variant="default" refusal={managedRefusal(policies, true)} onClick={() => setTarget(true)}>
          {texts.activate}
        </GuardedButton>
        <GuardedButton size="xs" variant="default" refusal={managedRefusal(policies, false)} onClick={() => setTarget(false)}>
          {texts.deactivate}
        </GuardedButton>
        <Button size="xs" variant="subtle" onClick={onDone}>
          {commonTexts.clearSelection}
        </Button>
      </Group>
      <ConfirmModal
        isOpen={target !== undefined}
        title={isActive ? texts.activateTitle(count) : texts.deactivateTitle(count)}
        action={isActive ? texts.activate : texts.deactivate}
        word={isActive ? texts.activateWord(count) : texts.deactivateWord(count)}
        takesReason
        isWide
        perform={perform}
        onClose={() => setTarget(undefined)}
      >
        <Text size="sm">{isActive ? texts.activateDetail : texts.deactivateDetail}</Text>
        <List size="sm">
          {policies.slice(0, 8).map(({ id, name }) => (
            <List.Item key={id}>{name}</List.Item>
          ))}
          {count > 8 && <List.Item>+{count - 8}</List.Item>}
        </List>
        <LazyPart
          part={accessChanges}
          props={{
            policyIds: policies.map(({ id }) => id),
            draft: { policies: policies.map(({ id }) => ({ id, isActive })) },
            resources: undefined,
          }}
          lines={2}
        />
      </ConfirmModal>
    </Paper>
  );
}

/** Changes the policies that differ, one after the other. @throws RequestError that says how many were refused, and why the first was */
async function setActive(policies: readonly PolicySummary[], isActive: boolean, reason: string | undefined): Promise<void> {
  const refusals: Refusal[] = [];
  const changed = policies.filter((policy) => policy.isActive !== isActive);
  for (const { id, name, version } of changed) {
    const body = { isActive, ...(reason !== undefined && { reason }) };
    try {
      await bodyOf(client.PUT('/admin/api/policies/{id}', { params: { path: { id }, header: ifMatch(version) }, body }));
    } catch (error) {
      refusals.push({ name, error });
    }
  }
  if (refusals.length > 0) throw toError(changed.length - refusals.length, refusals);
}
