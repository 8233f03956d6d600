import { TextInput, type TextInputProps } from '@mantine/core';
import { dataTexts } from '../../texts/data.ts';
import { fromLocalTime, toLocalTime } from '../local-time.ts';

/** Properties of the field. */
interface TimestampFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** An instant as text; empty without a value. */
  readonly value: string;
  onChange(instant: string): void;
}

/** A field for an instant, in local time, with UTC below it. An instant with parts of a second is edited as text, because the field would lose them. */
export function TimestampField({ value, onChange, description, ...field }: TimestampFieldProps) {
  const local = value === '' ? '' : toLocalTime(value);
  if (local === undefined) {
    return <TextInput {...field} description={description} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
  }
  const utc = value === '' ? undefined : dataTexts.record.utc(value);
  return (
    <TextInput
      type="datetime-local"
      step={1}
      description={
        <>
          {description} {utc}
        </>
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      {...field}
      value={local}
      onChange={({ currentTarget }) => onChange(fromLocalTime(currentTarget.value, value))}
    />
  );
}
