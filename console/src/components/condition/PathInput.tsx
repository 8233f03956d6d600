import { useMemo } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { SuggestionField } from '../SuggestionField.tsx';
import { useBuilder } from './builder-context.ts';
import { groupPaths } from './condition-paths.ts';

/** Properties of a field for a path. */
interface PathInputProps {
  readonly label?: string;
  readonly value: string;
  readonly error?: string | undefined;
  onChange(path: string): void;
}

/** A text field that suggests the paths which conditions can read, by group. */
export function PathInput({ label = texts.path, value, error, onChange }: PathInputProps) {
  const { options } = useBuilder();
  const groups = useMemo(() => groupPaths(options), [options]);
  return (
    <SuggestionField
      aria-label={label}
      placeholder={texts.pathPlaceholder}
      size="sm"
      groups={groups}
      spellCheck={false}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
