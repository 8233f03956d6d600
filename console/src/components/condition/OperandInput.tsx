import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import { TagField } from '../TagField.tsx';
import { operandForm, referencedPath, toItem, toReference } from './operand-forms.ts';
import { PathInput } from './PathInput.tsx';
import { type OperandInputProps, ScalarInput } from './ScalarInput.tsx';
import { DaysInput, DurationInput, NetworksInput, RangeInput, TimesInput } from './SpanInputs.tsx';
import { AnyInput } from './ValueInputs.tsx';

const choicesInput = createPart<OperandInputProps>(async () => (await import('./ChoicesInput.tsx')).ChoicesInput);
const recordsInput = createPart<OperandInputProps>(async () => (await import('./RecordsInput.tsx')).RecordsInput);

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
      return <LazyPart part={choicesInput} props={props} lines={1} />;
    case 'records':
      return <LazyPart part={recordsInput} props={props} lines={1} />;
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

function ListInput({ option, value, error, onChange }: OperandInputProps) {
  const kind = option?.kind === 'list' ? option.itemKind : option?.kind;
  const items = value as readonly (string | number | boolean)[];
  return (
    <TagField
      aria-label={texts.items}
      placeholder={items.length === 0 ? texts.itemsHelp : ''}
      value={items.map(String)}
      error={error}
      onChange={(next) => onChange(next.map((text) => items.find((item) => String(item) === text) ?? toItem(text, kind)))}
    />
  );
}
