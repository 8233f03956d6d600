import { Button, Group, Paper, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { effectOf, type OwnResource } from '../../../api/own-resources.ts';
import { MAX_BATCH } from '../../../api/record-batch.ts';
import type { Row } from '../../../api/records.ts';
import { GuardedButton } from '../../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../../components/LazyPart.tsx';
import { ProblemAlert } from '../../../components/ProblemAlert.tsx';
import { commonTexts } from '../../../texts/common.ts';
import { dataTexts } from '../../../texts/data.ts';
import type { BulkOutcome } from './bulk-change.ts';
import { useBulkChange } from './useBulkChange.ts';
import type { BulkDialogProps } from './WillRefuse.tsx';

const texts = dataTexts.bulk;

const DIALOGS = {
  update: createPart<BulkDialogProps>(async () => (await import('./ChangeFieldDialog.tsx')).ChangeFieldDialog),
  delete: createPart<BulkDialogProps>(async () => (await import('./DeleteRecordsDialog.tsx')).DeleteRecordsDialog),
};

/** Properties of the bar. */
export interface BulkBarProps {
  readonly resource: OwnResource;
  /** The selected records, as the list shows them at present. */
  readonly rows: readonly Row[];
  /** Number of records that the list has loaded. */
  readonly loaded: number;
  readonly isDeleted: boolean;
  onSelectLoaded(): void;
  onClear(): void;
  onDone(outcome: BulkOutcome): void;
}

/** The actions on the selected records. Those that the caller may never perform say why. */
export function BulkBar({ resource, rows, loaded, isDeleted, onSelectLoaded, onClear, onDone }: BulkBarProps) {
  const [asked, ask] = useState<keyof typeof DIALOGS>();
  const perform = useBulkChange({ resource: resource.definition.name, rows, onDone });
  const restore = useMutation({ mutationFn: () => perform({ action: 'restore' }) });
  const refusalOf = (action: 'update' | 'delete'): string | undefined => {
    if (effectOf(resource, action) === 'deny') return dataTexts.refused(action);
    return rows.length > MAX_BATCH ? texts.tooMany(MAX_BATCH) : undefined;
  };
  const button = { size: 'xs', variant: 'default' } as const;
  return (
    <Paper withBorder p="xs">
      <Group gap="sm">
        <Text size="sm" role="status">
          {texts.selected(rows.length)}
        </Text>
        {isDeleted ? (
          <GuardedButton {...button} loading={restore.isPending} refusal={refusalOf('delete')} onClick={() => restore.mutate()}>
            {dataTexts.restore.action}
          </GuardedButton>
        ) : (
          <>
            <GuardedButton {...button} refusal={refusalOf('update')} onClick={() => ask('update')}>
              {texts.change}
            </GuardedButton>
            <GuardedButton {...button} variant="light" color="red" refusal={refusalOf('delete')} onClick={() => ask('delete')}>
              {dataTexts.delete.action}
            </GuardedButton>
          </>
        )}
        {rows.length < loaded && (
          <Button size="xs" variant="subtle" onClick={onSelectLoaded}>
            {texts.selectLoaded(loaded)}
          </Button>
        )}
        <Button size="xs" variant="subtle" disabled={restore.isPending} onClick={onClear}>
          {commonTexts.clearSelection}
        </Button>
      </Group>
      {restore.error !== null && <ProblemAlert error={restore.error} onRepeat={() => restore.mutate()} />}
      {asked && <LazyPart part={DIALOGS[asked]} props={{ resource, rows, perform, onClose: () => ask(undefined) }} lines={0} />}
    </Paper>
  );
}
