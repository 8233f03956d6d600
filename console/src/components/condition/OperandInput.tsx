import { MultiSelect, TagsInput } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { operandForm, referencedPath, toItem, toReference } from './operand-forms.ts';
import { PathInput } from './PathInput.tsx';
import { type OperandInputProps, ScalarInput } from './ScalarInput.tsx';
import { DaysInput, DurationInput, NetworksInput, RangeInput, TimesInput } from './SpanInputs.tsx';
import { AnyInput } from './ValueInputs.tsx';

/** The editor of the right side of a comparison that fits its operator and path. */
export function OperandInput(props: OperandInputProps) {
  const { operator, option, value, error, onChange } = props;
  const field = { value, error, onChange };
  switch (operandForm(operator, option, value)) {
    case 'reference':
      return (
        <PathInput
          label={texts.referenced}
          value={referencedPath(String(value))}
          error={error}
          onChange={(path) => onChange(toReference(path))}
        />
      );
    case 'choices':
      return <ChoicesInput {...props} />;
    case 'list':
      return <ListInput {...props} />;
    case 'range':
      return <RangeInput {...props} />;
    case 'duration':
      return <DurationInput {...field} />;
    case 'timesOfDay':
      return <TimesInput {...field} />;
    case 'daysOfWeek':
      return <DaysInput {...field} />;
    case 'networks':
      return <NetworksInput {...field} />;
    case 'json':
      return <AnyInput {...field} />;
    default:
      return <ScalarInput {...props} />;
  }
}

function ChoicesInput({ option, value, error, onChange }: OperandInputProps) {
  const chosen = value as readonly (string | number)[];
  const values = [...new Set([...(option?.values ?? []), ...chosen])];
  return (
    <MultiSelect
      aria-label={texts.items}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.remove }}
      data={values.map(String)}
      value={chosen.map(String)}
      error={error}
      onChange={(texts) => onChange(texts.map((text) => values.find((each) => String(each) === text) ?? text))}
    />
  );
}

function ListInput({ option, value, error, onChange }: OperandInputProps) {
  const kind = option?.kind === 'list' ? option.itemKind : option?.kind;
  const items = value as readonly (string | number)[];
  return (
    <TagsInput
      aria-label={texts.items}
      placeholder={items.length === 0 ? texts.itemsHelp : ''}
      value={items.map(String)}
      error={error}
      onChange={(next) => onChange(next.map((text) => items.find((item) => String(item) === text) ?? toItem(text, kind)))}
    />
  );
}
