import { TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { parseNumber } from './parse-number.ts';

/** Properties of a field for a number. */
interface NumberBoxProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange' | 'onBlur' | 'onKeyDown' | 'inputMode'> {
  readonly value: number | undefined;
  readonly isInteger?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** True to report the number when the field is left, not while it is typed. */
  readonly reportsOnLeaving?: boolean;
  onChange(value: number): void;
}

/** A text field for a number. It keeps the typed text until it is left; a text that is no number is not reported. The arrow keys add and subtract 1. */
export function NumberBox({ value, isInteger, min, max, reportsOnLeaving = false, onChange, ...field }: NumberBoxProps) {
  const [typed, setTyped] = useState<string>();
  const limits = { isInteger, min, max };
  const report = (text: string): void => {
    const next = parseNumber(text, limits);
    if (next !== undefined && next !== value) onChange(next);
  };
  const type = (text: string): void => {
    setTyped(text);
    if (!reportsOnLeaving) report(text);
  };
  const step = (event: KeyboardEvent<HTMLInputElement>): void => {
    const change = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const present = parseNumber(event.currentTarget.value, limits);
    if (change === undefined || present === undefined || parseNumber(String(present + change), limits) === undefined) return;
    event.preventDefault();
    type(String(present + change));
  };
  return (
    <TextInput
      {...field}
      inputMode={isInteger === true ? 'numeric' : 'decimal'}
      value={typed ?? value?.toString() ?? ''}
      onChange={({ currentTarget }) => type(currentTarget.value)}
      onKeyDown={step}
      onBlur={() => {
        if (typed !== undefined && reportsOnLeaving) report(typed);
        setTyped(undefined);
      }}
    />
  );
}
