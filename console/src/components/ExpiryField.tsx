import { TextInput } from '@mantine/core';
import { policyTexts } from '../texts/policy.ts';

const texts = policyTexts.assignments;

/** Properties of the field. */
interface ExpiryFieldProps {
  /** Local time; empty for no expiry. */
  readonly value: string;
  onChange(value: string): void;
}

/** The time at which an assignment expires. */
export function ExpiryField({ value, onChange }: ExpiryFieldProps) {
  return (
    <TextInput
      label={texts.expiry}
      description={texts.expiryHelp}
      type="datetime-local"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
