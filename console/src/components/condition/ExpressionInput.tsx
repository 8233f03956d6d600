import { Box, Input } from '@mantine/core';
import { useMemo } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { CodeEditor } from '../code/CodeEditor.tsx';
import type { CodeSuggestion } from '../code/code-editor-props.ts';
import { type Builder, useBuilder } from './builder-context.ts';
import { marksIn, mistakesAt } from './condition-mistakes.ts';

/** Properties of an expression. */
export interface ExpressionInputProps {
  readonly at: string;
  readonly value: string;
  onChange(expression: string): void;
}

/** A CEL expression, with suggestions of paths and functions. Its mistakes are marked where they are. */
export function ExpressionInput({ at, value, onChange }: ExpressionInputProps) {
  const builder = useBuilder();
  const { issues } = builder;
  const path = `${at}.expression`;
  const suggestions = useMemo(() => suggestionsOf(builder), [builder]);
  const mistake = mistakesAt(issues, path);
  const mistakes = useMemo(() => marksIn(issues, path), [issues, path]);
  return (
    <Input.Wrapper error={mistake} labelElement="div" inputContainer={(editor) => <Box mb={mistake === undefined ? 0 : 4}>{editor}</Box>}>
      <CodeEditor
        label={texts.expression}
        language="expression"
        value={value}
        suggestions={suggestions}
        mistakes={mistakes}
        onChange={onChange}
      />
    </Input.Wrapper>
  );
}

function suggestionsOf({ options, catalogue: { expressions } }: Builder): readonly CodeSuggestion[] {
  const paths = options.map(({ path, kind }) => ({ label: path, kind: 'variable' as const, ...(kind !== undefined && { detail: kind }) }));
  const functions = [...expressions.functions, ...expressions.macros];
  return [...paths, ...functions.map(({ name, form }) => ({ label: name, detail: form, kind: 'function' as const }))];
}
