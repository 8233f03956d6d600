import { Button, Group } from '@mantine/core';
import { TimestampField } from '../../components/record-form/TimestampField.tsx';
import { simulatorTexts as texts } from '../../texts/simulator.ts';

/** Properties of the time of a question. */
export interface TimeFieldProps {
  readonly time: string | undefined;
  onChange(time: string | undefined): void;
}

/** The time of the question, and the button that fills in the present time. */
export function TimeField({ time, onChange }: TimeFieldProps) {
  const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return (
    <Group gap="xs" align="flex-end">
      <TimestampField
        label={texts.time}
        description={texts.timeHelp}
        inputWrapperOrder={['label', 'description', 'input', 'error']}
        flex="1 1 200px"
        value={time ?? ''}
        onChange={(next) => onChange(next || undefined)}
      />
      <Button variant="default" onClick={() => onChange(now())}>
        {texts.now}
      </Button>
    </Group>
  );
}
