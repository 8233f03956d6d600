/** Editors of durations, pairs, days of the week and networks. */
import { Chip, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { NumberBox } from '../NumberBox.tsx';
import { TagField } from '../TagField.tsx';
import { DURATION_UNITS, readDuration } from './operand-forms.ts';
import { type OperandInputProps, ScalarInput } from './ScalarInput.tsx';
import type { ValueInputProps } from './ValueInputs.tsx';

/** A duration: an amount and its unit. */
export function DurationInput({ value, error, onChange }: ValueInputProps) {
  const { amount, unit } = readDuration(String(value)) ?? { amount: 24, unit: 'h' };
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <NumberBox
        aria-label={texts.amount}
        w={90}
        isInteger
        min={0}
        max={999_999_999}
        value={amount}
        error={error}
        onChange={(next) => onChange(`${next}${unit}`)}
      />
      <NativeSelect
        aria-label={texts.unit}
        data={DURATION_UNITS.map((each) => ({ value: each, label: texts.units[each] }))}
        value={unit}
        onChange={({ currentTarget }) => onChange(`${amount}${currentTarget.value}`)}
      />
    </Group>
  );
}

/** Two values of the path, which are included. */
export function RangeInput({ value, error, errorAt, onChange, ...operand }: OperandInputProps) {
  const [from, to] = value as readonly unknown[];
  const [ofFrom, ofTo] = [errorAt?.(0), errorAt?.(1)];
  const ofBoth = ofFrom === undefined && ofTo === undefined ? error : undefined;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start" grow>
      <ScalarInput {...operand} label={texts.from} value={from} error={ofFrom ?? ofBoth} onChange={(next) => onChange([next, to])} />
      <ScalarInput {...operand} label={texts.to} value={to} error={ofTo} onChange={(next) => onChange([from, next])} />
    </Group>
  );
}

/** Two times of the day. */
export function TimesInput({ value, error, onChange }: ValueInputProps) {
  const [from, to] = (value as readonly unknown[]).map(String);
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <TextInput
        aria-label={texts.from}
        type="time"
        value={from ?? ''}
        error={error}
        onChange={({ currentTarget }) => onChange([currentTarget.value, to])}
      />
      <TextInput
        aria-label={texts.to}
        type="time"
        value={to ?? ''}
        onChange={({ currentTarget }) => onChange([from, currentTarget.value])}
      />
    </Group>
  );
}

/** Days of the week, 1 (Monday) to 7 (Sunday). */
export function DaysInput({ value, error, onChange }: ValueInputProps) {
  const days = value as readonly number[];
  return (
    <>
      <Chip.Group multiple value={days.map(String)} onChange={(chosen) => onChange(chosen.map(Number).sort((a, b) => a - b))}>
        <Group gap={4} pt={4}>
          {texts.days.map((day, index) => (
            <Chip key={day} size="xs" value={String(index + 1)} aria-label={day}>
              {day.slice(0, 3)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </>
  );
}

/** Networks such as `10.0.0.0/8`: one, or a list. */
export function NetworksInput({ value, error, onChange }: ValueInputProps) {
  const networks = typeof value === 'string' ? (value === '' ? [] : [value]) : (value as readonly string[]);
  return (
    <TagField
      aria-label={texts.networks}
      placeholder={networks.length === 0 ? '10.0.0.0/8' : ''}
      value={networks}
      error={error}
      onChange={onChange}
    />
  );
}
