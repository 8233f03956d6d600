import { Alert, Stack, Text } from '@mantine/core';
import type { OwnResource } from '../../../api/own-resources.ts';
import { labelField, labelOf } from '../../../components/record-labels.ts';
import { dataTexts } from '../../../texts/data.ts';
import type { BulkOutcome } from './bulk-change.ts';
import { RefusedRecords } from './RefusedRecords.tsx';

const texts = dataTexts.bulk;

/** Properties of the results. */
export interface BulkResultsProps {
  readonly resource: OwnResource;
  readonly outcome: BulkOutcome;
  onClose(): void;
}

/** The results of a change of several records of which some were refused. They stay until they are closed. */
export function BulkResults({ resource: { definition }, outcome, onClose }: BulkResultsProps) {
  const { action, changed, refused } = outcome;
  const nameOf = (row: BulkOutcome['changed'][number]) => labelOf(row, labelField(definition));
  return (
    <Alert
      role="alert"
      color="yellow"
      title={texts.refused(refused.length)}
      withCloseButton
      closeButtonLabel={texts.close}
      onClose={onClose}
    >
      <Stack gap="xs">
        <RefusedRecords resource={definition.name} action={action} refused={refused} nameOf={nameOf} />
        <Text size="sm">{texts.stillSelected}</Text>
        {changed.length > 0 && (
          <details>
            <summary>{texts.done[action](changed.length)}</summary>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {changed.map(nameOf).join(', ')}
            </Text>
          </details>
        )}
      </Stack>
    </Alert>
  );
}
