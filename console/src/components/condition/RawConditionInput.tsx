import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { parseJson } from '../strict-json.ts';

/** Properties of the input. */
export interface RawConditionInputProps {
  readonly json: unknown;
  onChange(json: unknown): void;
}

/** Edits a condition that has no form as JSON. */
export function RawConditionInput({ json, onChange }: RawConditionInputProps) {
  const [typed, setTyped] = useState(JSON.stringify(json, null, 2));
  const [isValid, setValid] = useState(true);
  const change = (text: string) => {
    setTyped(text);
    try {
      onChange(parseJson(text));
      setValid(true);
    } catch {
      setValid(false);
    }
  };
  return (
    <Textarea
      label={texts.raw}
      description={texts.rawHelp}
      autosize
      maxRows={12}
      ff="monospace"
      spellCheck={false}
      value={typed}
      error={isValid ? undefined : texts.rawInvalid}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
