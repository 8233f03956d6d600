import { ActionIcon, Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OwnResource } from '../../api/own-resources.ts';
import { ownCatalogueQuery } from '../../api/queries.ts';
import { parseFormValue } from '../../components/record-form/form-values.ts';
import { dataTexts } from '../../texts/data.ts';
import { sentence } from '../../texts/sentence.ts';
import { type Comparison, type RecordsSearch, toComparisons, toWhere } from './search.ts';

const texts = dataTexts.filter;

/** Properties of the form of a filter. */
interface FilterFormProps {
  readonly resource: OwnResource;
  readonly search: RecordsSearch;
  onChange(search: RecordsSearch): void;
}

/** The comparisons of the filter, all of which must hold. */
export function FilterForm({ resource, search, onChange }: FilterFormProps) {
  const comparisons = toComparisons(search.where);
  const apply = (next: readonly Comparison[]): void => {
    const { where: _, ...others } = search;
    const where = toWhere(next);
    onChange({ ...others, ...(where && { where }) });
  };
  return (
    <Stack gap="xs">
      {comparisons.length > 0 && (
        <Group gap="xs">
          {comparisons.map((comparison) => (
            <Present
              key={`${comparison.field} ${comparison.operator}`}
              comparison={comparison}
              onRemove={() => apply(comparisons.filter((each) => each !== comparison))}
            />
          ))}
        </Group>
      )}
      <NewComparison key={comparisons.length} resource={resource} onAdd={(comparison) => apply([...comparisons, comparison])} />
    </Stack>
  );
}

function Present({ comparison: { field, operator, value }, onRemove }: { readonly comparison: Comparison; onRemove(): void }) {
  const { data } = useQuery(ownCatalogueQuery);
  const label = data?.operators.find(({ name }) => name === operator)?.label ?? operator;
  return (
    <Group gap={4} px="sm" py={2} bd="1px solid var(--mantine-color-default-border)" style={{ borderRadius: 999 }}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {sentence`${field} ${label} ${typeof value === 'string' ? value : JSON.stringify(value)}`}
      </Text>
      <ActionIcon size="sm" variant="subtle" color="gray" aria-label={texts.remove(field)} onClick={onRemove}>
        ✕
      </ActionIcon>
    </Group>
  );
}

/** Operators whose right side is a list, and those whose right side is true or false. */
const LISTS: ReadonlySet<string> = new Set(['scalars', 'range', 'timesOfDay', 'daysOfWeek', 'networks']);
const FLAGS: ReadonlySet<string> = new Set(['boolean']);

function NewComparison({ resource, onAdd }: { readonly resource: OwnResource; onAdd(comparison: Comparison): void }) {
  const { data } = useQuery(ownCatalogueQuery);
  const [name, setName] = useState('');
  const [operator, setOperator] = useState<string>('eq');
  const [text, setText] = useState('');
  const field = resource.definition.fields.find((each) => each.name === name);
  // Another operator can have values of another kind.
  const chooseOperator = (next: string): void => {
    setOperator(next);
    setText('');
  };
  const chooseField = (next: string): void => {
    const { operators = [] } = resource.definition.fields.find((each) => each.name === next) ?? {};
    setName(next);
    chooseOperator(operators.find((each) => each === 'eq') ?? operators[0] ?? 'eq');
  };
  const chosen = data?.operators.find((each) => each.name === operator);
  const toValue = (item: string): unknown => {
    if (field === undefined || FLAGS.has(chosen?.operand ?? '')) return item === 'true';
    const parsed = parseFormValue(field.type === 'list' ? { ...field, type: field.of?.type ?? 'string' } : field, item.trim());
    return 'mistake' in parsed ? item : field.type === 'boolean' ? item === 'true' : parsed.value;
  };
  const isList = LISTS.has(chosen?.operand ?? '');
  const values = FLAGS.has(chosen?.operand ?? '') || field?.type === 'boolean' ? ['true', 'false'] : isList ? undefined : field?.values;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (field !== undefined && text !== '')
          onAdd({ field: field.name, operator, value: isList ? text.split(',').map(toValue) : toValue(text) });
      }}
    >
      <Group gap="xs">
        <NativeSelect
          aria-label={texts.field}
          w={170}
          data={[
            { value: '', label: texts.add },
            ...resource.definition.fields.filter(({ writeOnly }) => !writeOnly).map((each) => ({ value: each.name, label: each.name })),
          ]}
          value={name}
          onChange={({ currentTarget }) => chooseField(currentTarget.value)}
        />
        {field && (
          <>
            <NativeSelect
              aria-label={texts.operator}
              w={190}
              data={(data?.operators ?? [])
                .filter((each) => field.operators.includes(each.name))
                .map((each) => ({ value: each.name, label: each.label }))}
              value={operator}
              onChange={({ currentTarget }) => chooseOperator(currentTarget.value)}
            />
            {values === undefined ? (
              <TextInput
                aria-label={texts.value}
                placeholder={isList ? texts.list : texts.value}
                value={text}
                onChange={({ currentTarget }) => setText(currentTarget.value)}
              />
            ) : (
              <NativeSelect
                aria-label={texts.value}
                data={[{ value: '', label: texts.value }, ...values.map((each) => ({ value: each, label: each }))]}
                value={text}
                onChange={({ currentTarget }) => setText(currentTarget.value)}
              />
            )}
            <Button type="submit" variant="default">
              {texts.apply}
            </Button>
          </>
        )}
      </Group>
    </form>
  );
}
