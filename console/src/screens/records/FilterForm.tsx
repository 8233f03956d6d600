import { ActionIcon, Group, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OwnResource } from '../../api/own-resources.ts';
import { ownCatalogueQuery } from '../../api/queries.ts';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { RecordName } from '../../components/RecordName.tsx';
import type { Field } from '../../components/record-form/form-values.ts';
import { labelField } from '../../components/record-labels.ts';
import { dataTexts } from '../../texts/data.ts';
import type { FilterEditorProps } from './FilterEditor.tsx';
import { comparedRecord, printOperand } from './filter-option.ts';
import { RecordSearch } from './RecordSearch.tsx';
import { type Comparison, type RecordsSearch, SEARCH_OPERATOR, toComparisons, withComparisons } from './search.ts';

const texts = dataTexts.filter;

// Most visits need no other filter than the search.
const editor = createPart<FilterEditorProps>(async () => (await import('./FilterEditor.tsx')).FilterEditor);

/** Properties of the form of a filter. */
interface FilterFormProps {
  readonly resource: OwnResource;
  readonly search: RecordsSearch;
  onChange(search: RecordsSearch): void;
}

/** The search, and the comparisons of the filter, all of which must hold. */
export function FilterForm({ resource, search, onChange }: FilterFormProps) {
  const { definition } = resource;
  const label = labelField(definition);
  const searched = definition.fields.find(({ name, operators }) => name === label && operators.includes(SEARCH_OPERATOR))?.name;
  const comparisons = toComparisons(search.where);
  const shown = comparisons.filter(({ field, operator }) => field !== searched || operator !== SEARCH_OPERATOR);
  const apply = (next: readonly Comparison[]): void => onChange(withComparisons(search, next));
  return (
    <>
      <Group gap="xs" align="flex-start">
        {searched !== undefined && <RecordSearch field={searched} search={search} onChange={onChange} />}
        <NewComparison key={shown.length} resource={resource} onAdd={(comparison) => apply([...comparisons, comparison])} />
      </Group>
      {shown.length > 0 && (
        <Group gap="xs">
          {shown.map((comparison) => (
            <Present
              key={`${comparison.field} ${comparison.operator}`}
              comparison={comparison}
              fields={definition.fields}
              onRemove={() => apply(comparisons.filter((each) => each !== comparison))}
            />
          ))}
        </Group>
      )}
    </>
  );
}

interface PresentProps {
  readonly comparison: Comparison;
  readonly fields: readonly Field[];
  onRemove(): void;
}

/** A comparison of the filter, with the name of the record that it is about. */
function Present({ comparison, fields, onRemove }: PresentProps) {
  const { field, operator, value } = comparison;
  const { data } = useQuery(ownCatalogueQuery);
  const label = data?.operators.find(({ name }) => name === operator)?.label ?? operator;
  const record = comparedRecord(fields, comparison);
  return (
    <Group gap={4} px="sm" py={2} bd="1px solid var(--mantine-color-default-border)" style={{ borderRadius: 999 }}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {field} {label} <span>{record === undefined ? printOperand(value) : <RecordName {...record} />}</span>
      </Text>
      <ActionIcon size="sm" variant="subtle" color="gray" aria-label={texts.remove(field)} onClick={onRemove}>
        ✕
      </ActionIcon>
    </Group>
  );
}

function NewComparison({ resource, onAdd }: { readonly resource: OwnResource; onAdd(comparison: Comparison): void }) {
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const [name, setName] = useState('');
  const fields = resource.definition.fields.filter(({ writeOnly, operators }) => !writeOnly && operators.length > 0);
  const field = fields.find((each) => each.name === name);
  return (
    <>
      <NativeSelect
        aria-label={texts.field}
        w={170}
        data={[{ value: '', label: texts.add }, ...fields.map((each) => ({ value: each.name, label: each.name }))]}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {field && catalogue && <LazyPart key={name} part={editor} props={{ field, catalogue, onAdd }} lines={1} />}
    </>
  );
}
