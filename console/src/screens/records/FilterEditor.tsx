import { Button, Group, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { OperandInput } from '../../components/condition/OperandInput.tsx';
import { initialValue, keepValue } from '../../components/condition/operand-forms.ts';
import type { Field } from '../../components/record-form/form-values.ts';
import { dataTexts } from '../../texts/data.ts';
import { isComplete, toFilterOption } from './filter-option.ts';
import type { Comparison } from './search.ts';

const texts = dataTexts.filter;

/** Properties of the editor of a comparison. */
export interface FilterEditorProps {
  readonly field: Field;
  readonly catalogue: Pick<Schemas['api.OwnCatalogue'], 'fieldTypes' | 'operators'>;
  onAdd(comparison: Comparison): void;
}

/** The operator and the value of a new comparison, with the editor that fits both. */
export function FilterEditor({ field, catalogue, onAdd }: FilterEditorProps) {
  const option = toFilterOption(catalogue, field);
  const operators = catalogue.operators.filter(({ name }) => field.operators.includes(name));
  const [operator, setOperator] = useState(() => operators.find(({ name }) => name === 'eq') ?? operators[0]);
  const [value, setValue] = useState<unknown>(() => initialValue(operator, option));
  const [isRefused, setRefused] = useState(false);
  const chooseOperator = (name: string): void => {
    const next = operators.find((each) => each.name === name);
    setOperator(next);
    setValue(isComplete(value) ? keepValue(next, option, value) : initialValue(next, option));
    setRefused(false);
  };
  const add = (): void => {
    if (operator !== undefined && isComplete(value)) onAdd({ field: field.name, operator: operator.name, value });
    else setRefused(true);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <Group gap="xs" align="flex-start">
        <NativeSelect
          aria-label={texts.operator}
          w={190}
          data={operators.map(({ name, label }) => ({ value: name, label }))}
          value={operator?.name ?? ''}
          onChange={({ currentTarget }) => chooseOperator(currentTarget.value)}
        />
        <OperandInput
          operator={operator}
          option={option}
          value={value}
          error={isRefused && !isComplete(value) ? texts.noValue : undefined}
          onChange={setValue}
        />
        <Button type="submit" variant="default">
          {texts.apply}
        </Button>
      </Group>
    </form>
  );
}
