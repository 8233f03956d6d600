import { MultiSelect } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import type { OperandInputProps } from './ScalarInput.tsx';

/** A field that selects several of the given values. */
export function ChoicesInput({ option, value, error, onChange }: OperandInputProps) {
  const chosen = value as readonly (string | number)[];
  const values = [...new Set([...(option?.values ?? []), ...chosen])];
  return (
    <MultiSelect
      aria-label={texts.items}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.remove }}
      data={values.map(String)}
      value={chosen.map(String)}
      error={error}
      onChange={(texts) => onChange(texts.map((text) => values.find((each) => String(each) === text) ?? text))}
    />
  );
}
