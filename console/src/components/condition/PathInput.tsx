import { Autocomplete } from '@mantine/core';
import { useMemo } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { useBuilder } from './builder-context.ts';
import { groupPaths } from './condition-paths.ts';

/** Properties of a field for a path. */
interface PathInputProps {
  readonly label?: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly className?: string | undefined;
  onChange(path: string): void;
}

/** A text field that suggests the paths which conditions can read, by group. */
export function PathInput({ label = texts.path, value, error, className, onChange }: PathInputProps) {
  const { options } = useBuilder();
  const data = useMemo(() => groupPaths(options).map(({ group, items }) => ({ group, items: [...items] })), [options]);
  return (
    <Autocomplete
      aria-label={label}
      placeholder={texts.pathPlaceholder}
      className={className ?? ''}
      size="sm"
      data={data}
      limit={80}
      maxDropdownHeight={320}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
      spellCheck={false}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
