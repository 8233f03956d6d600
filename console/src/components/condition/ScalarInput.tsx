import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ownCatalogueQuery } from '../../api/queries.ts';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { RecordPickerProps } from '../RecordPicker.tsx';
import type { PathOption } from './condition-paths.ts';
import { type Operator, operandForm, scalarForm } from './operand-forms.ts';
import { AnyInput, BooleanInput, DateInput, InstantInput, NumberField } from './ValueInputs.tsx';

const recordPicker = createPart<RecordPickerProps>(async () => (await import('../RecordPicker.tsx')).RecordPicker);

/** Properties of the editor of an operand. */
export interface OperandInputProps {
  readonly operator: Operator | undefined;
  readonly option: PathOption | undefined;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Returns the mistake of one item of the value. */
  errorAt?(index: number): string | undefined;
  onChange(value: unknown): void;
}

/** The editor of one value of a path. */
export function ScalarInput({
  operator,
  option,
  value,
  error,
  label = texts.value,
  onChange,
}: OperandInputProps & { readonly label?: string }) {
  const field = { label, value, error, onChange };
  const form = operator?.operand === 'scalar' || operator?.operand === 'range' ? scalarForm(option) : operandForm(operator, option, value);
  switch (form) {
    case 'choice':
      return <ChoiceInput {...field} option={option} />;
    case 'number':
      return <NumberField {...field} />;
    case 'boolean':
      return <BooleanInput {...field} labels={operator?.operand === 'boolean' ? 'state' : 'value'} />;
    case 'date':
      return <DateInput {...field} />;
    case 'instant':
      return <InstantInput {...field} />;
    case 'record':
      return <RecordInput {...field} option={option} />;
    case 'text':
      return (
        <TextInput
          aria-label={label}
          value={String(value ?? '')}
          error={error}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    default:
      return <AnyInput {...field} />;
  }
}

interface OptionInputProps {
  readonly label: string;
  readonly option: PathOption | undefined;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

function ChoiceInput({ label, option, value, error, onChange }: OptionInputProps) {
  const known = option?.values ?? [];
  const values = known.some((each) => each === value) || value === undefined ? known : [...known, value as string | number];
  return (
    <NativeSelect
      aria-label={label}
      // Without a value, none is shown as chosen.
      data={[...(value === undefined ? [''] : []), ...values.map(String)]}
      value={value === undefined ? '' : String(value)}
      error={error}
      onChange={({ currentTarget }) => onChange(values.find((each) => String(each) === currentTarget.value) ?? value)}
    />
  );
}

function RecordInput({ label, option, value, error, onChange }: OptionInputProps) {
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const resource = catalogue?.resources.find(({ definition }) => definition.name === option?.to)?.definition;
  if (resource === undefined)
    return (
      <TextInput
        aria-label={label}
        value={String(value ?? '')}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  return (
    <LazyPart
      part={recordPicker}
      props={{
        ...{ resource, label, value: value === '' ? undefined : String(value) },
        ...(error !== undefined && { error }),
        onChange: (id) => onChange(id ?? ''),
      }}
      lines={2}
    />
  );
}
