/** Editors of one value. */
import { SegmentedControl, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { commonTexts } from '../../texts/common.ts';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { fromLocalTime, toLocalTime } from '../local-time.ts';
import { NumberBox } from '../NumberBox.tsx';
import { parseAny, printAny } from './value-text.ts';

/** Properties of an editor of a value. */
export interface ValueInputProps {
  readonly label?: string;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

/** A number. An empty field keeps the number. */
export function NumberField({ label = texts.value, value, error, onChange }: ValueInputProps) {
  return <NumberBox aria-label={label} value={typeof value === 'number' ? value : undefined} error={error} onChange={onChange} />;
}

/** True or false: of a value, or of a state such as "has a value". */
export function BooleanInput({
  label = texts.value,
  value,
  error,
  labels,
  onChange,
}: ValueInputProps & { readonly labels: 'value' | 'state' }) {
  const data = [
    { value: 'true', label: labels === 'state' ? commonTexts.yes : 'true' },
    { value: 'false', label: labels === 'state' ? commonTexts.no : 'false' },
  ];
  return (
    <>
      <SegmentedControl aria-label={label} data={data} value={String(value)} onChange={(text) => onChange(text === 'true')} />
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </>
  );
}

/** A calendar date. */
export function DateInput({ label = texts.value, value, error, onChange }: ValueInputProps) {
  return (
    <TextInput
      aria-label={label}
      type="date"
      value={String(value ?? '')}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** An instant, edited in local time. */
export function InstantInput({ label = texts.value, value, error, onChange }: ValueInputProps) {
  const text = typeof value === 'string' ? value : '';
  return (
    <TextInput
      aria-label={label}
      type="datetime-local"
      step={1}
      {...(text !== '' && { description: texts.utc(text), inputWrapperOrder: ['input', 'description', 'error'] })}
      value={toLocalTime(text) ?? ''}
      error={error}
      onChange={({ currentTarget }) => onChange(fromLocalTime(currentTarget.value, text))}
    />
  );
}

/** Any value as text: JSON, or a text without quotes. */
export function AnyInput({ label = texts.value, value, error, onChange }: ValueInputProps) {
  const [typed, setTyped] = useState(printAny(value));
  // The typed text stays while it means the value, so that `1.` can become `1.5`.
  const isCurrent = value === undefined ? typed === '' : JSON.stringify(parseAny(typed)) === JSON.stringify(value);
  const shown = isCurrent ? typed : printAny(value);
  return (
    <TextInput
      aria-label={label}
      ff="monospace"
      spellCheck={false}
      value={shown}
      error={error}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(parseAny(currentTarget.value));
      }}
    />
  );
}
