import { Alert, Button, Group, Text } from '@mantine/core';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.kept;

/** Properties of the offer. */
export interface KeptValuesAlertProps {
  /** True if changes of secret fields were left out. */
  readonly isPartial: boolean;
  onRestore(): void;
  onDiscard(): void;
}

/** Offers the unsaved values of an earlier page. */
export function KeptValuesAlert({ isPartial, onRestore, onDiscard }: KeptValuesAlertProps) {
  return (
    <Alert color="yellow" title={texts.title} role="alert" mb="md">
      <Text size="sm">{texts.detail}</Text>
      {isPartial && <Text size="sm">{texts.partial}</Text>}
      <Group mt="sm">
        <Button size="xs" onClick={onRestore}>
          {texts.restore}
        </Button>
        <Button size="xs" variant="default" onClick={onDiscard}>
          {texts.discard}
        </Button>
      </Group>
    </Alert>
  );
}
