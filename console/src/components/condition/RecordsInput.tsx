import { MultiSelect } from '@mantine/core';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { itemQuery } from '../picker-source.ts';
import type { ResourceDescription } from '../record-labels.ts';
import { recordSource } from '../record-source.ts';
import { useFoundItems } from '../useFoundItems.ts';
import { useBuilder } from './builder-context.ts';
import { isReference, toIds } from './operand-forms.ts';
import type { OperandInputProps } from './ScalarInput.tsx';

/** A field that selects records of the hierarchy that a path belongs to. It also takes typed ids, and paths as `${…}`. */
export function RecordsInput({ option, ...props }: OperandInputProps) {
  const { catalogue } = useBuilder();
  const resource = catalogue.definitions.find(({ name }) => name === option?.hierarchy);
  return resource && <RecordsSelect {...props} resource={resource} />;
}

interface RecordsSelectProps extends Pick<OperandInputProps, 'value' | 'error' | 'onChange'> {
  readonly resource: ResourceDescription;
}

function RecordsSelect({ resource, value, error, onChange }: RecordsSelectProps) {
  const source = recordSource(resource, useQueryClient());
  const [text, setText] = useState('');
  const { found, isKnown, failure, retry, field } = useFoundItems(source, text);
  const ids = toIds(value);
  const chosen = useQueries({ queries: ids.filter((id) => !isReference(id)).map((id) => itemQuery(source, id)) });
  const known = [...found, ...chosen.flatMap(({ data }) => data ?? [])];
  const labels = new Map(known.map((item) => [item.value, item.label]));
  const typed = text.trim();
  const isOffered = typed !== '' && (isKnown || isReference(typed));
  const values = new Set([...found.map((item) => item.value), ...ids, ...(isOffered ? [typed] : [])]);
  return (
    <>
      <MultiSelect
        aria-label={texts.records(resource.name)}
        placeholder={ids.length === 0 ? texts.recordsHelp : ''}
        {...field}
        data={[...values].map((id) => ({ value: id, label: labels.get(id) ?? id }))}
        value={[...ids]}
        error={error}
        searchValue={text}
        onSearchChange={setText}
        onChange={onChange}
      />
      {failure !== null && <ProblemAlert error={failure} onRetry={retry} />}
    </>
  );
}
