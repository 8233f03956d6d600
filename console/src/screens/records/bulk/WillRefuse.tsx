import { Alert } from '@mantine/core';
import type { OwnResource } from '../../../api/own-resources.ts';
import type { Row } from '../../../api/records.ts';
import { labelField, labelOf } from '../../../components/record-labels.ts';
import { dataTexts } from '../../../texts/data.ts';
import type { BulkChange, RefusedRecord } from './bulk-change.ts';
import { RefusedRecords } from './RefusedRecords.tsx';

/** Properties of a dialog that changes several records. */
export interface BulkDialogProps {
  readonly resource: OwnResource;
  readonly rows: readonly Row[];
  perform(change: BulkChange): Promise<unknown>;
  onClose(): void;
}

/** Properties of the warning. */
interface WillRefuseProps {
  readonly resource: OwnResource;
  readonly action: BulkChange['action'];
  readonly refused: readonly RefusedRecord[];
}

/** Names the records that a change will be refused for, before it is sent. */
export function WillRefuse({ resource: { definition }, action, refused }: WillRefuseProps) {
  if (refused.length === 0) return null;
  return (
    <Alert color="yellow" title={dataTexts.bulk.willRefuse(refused.length)}>
      <RefusedRecords resource={definition.name} action={action} refused={refused} nameOf={(row) => labelOf(row, labelField(definition))} />
    </Alert>
  );
}
