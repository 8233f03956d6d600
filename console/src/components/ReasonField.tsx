import { TextInput } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';

/** The reason of a change, which other admins read in the history. */
export function ReasonField({ value, onChange }: { readonly value: string; onChange(reason: string): void }) {
  return (
    <TextInput
      label={commonTexts.reason}
      description={commonTexts.reasonHelp}
      maxLength={500}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
