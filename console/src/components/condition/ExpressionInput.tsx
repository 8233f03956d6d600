import { Input } from '@mantine/core';
import { useMemo } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { CodeEditor } from '../code/CodeEditor.tsx';
import type { CodeSuggestion } from '../code/code-editor-props.ts';
import { type Builder, mistakesAt, useBuilder } from './builder-context.ts';

/** Properties of an expression. */
export interface ExpressionInputProps {
  readonly at: string;
  readonly value: string;
  onChange(expression: string): void;
}

/** A CEL expression, with suggestions of paths and functions. */
export function ExpressionInput({ at, value, onChange }: ExpressionInputProps) {
  const builder = useBuilder();
  const suggestions = useMemo(() => suggestionsOf(builder), [builder]);
  return (
    <Input.Wrapper error={mistakesAt(builder.issues, `${at}.expression`)} labelElement="div">
      <CodeEditor label={texts.expression} language="expression" value={value} suggestions={suggestions} onChange={onChange} />
    </Input.Wrapper>
  );
}

function suggestionsOf({ options, catalogue: { expressions } }: Builder): readonly CodeSuggestion[] {
  const paths = options.map(({ path, kind }) => ({ label: path, kind: 'variable' as const, ...(kind !== undefined && { detail: kind }) }));
  const functions = [...expressions.functions, ...expressions.macros];
  return [...paths, ...functions.map(({ name, form }) => ({ label: name, detail: form, kind: 'function' as const }))];
}
