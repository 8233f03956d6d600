import { type JsonInputProps, type PasswordInputProps, Select, type SwitchProps, type TagsInputProps, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { ownCatalogueQuery } from '../../api/queries.ts';
import { commonTexts } from '../../texts/common.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import { hasLineBreak } from '../line-breaks.ts';
import { RecordPicker } from '../RecordPicker.tsx';
import { TagField } from '../TagField.tsx';
import { type Field, type FormValue, isListOfTexts, isSwitch } from './form-values.ts';
import { LongText } from './LongText.tsx';
import { TimestampField } from './TimestampField.tsx';

// Few resources have such fields.
const suggestedTags = createPart<TagsInputProps>(async () => (await import('./rare-fields.tsx')).SuggestedTags);
const jsonField = createPart<JsonInputProps>(async () => (await import('./rare-fields.tsx')).JsonField);
const switchField = createPart<SwitchProps>(async () => (await import('./SwitchField.tsx')).SwitchField);
const passwordField = createPart<PasswordInputProps>(async () => (await import('./rare-fields.tsx')).PasswordField);

/** Properties of the control of a field. */
interface FieldInputProps {
  readonly field: Field;
  readonly value: FormValue;
  readonly mistake: string | undefined;
  readonly isNew: boolean;
  readonly disabled: boolean;
  onChange(value: FormValue): void;
}

/** The choices of a boolean that may have no value. */
const BOOLEANS = [
  { value: 'true', label: commonTexts.yes },
  { value: 'false', label: commonTexts.no },
];

/** The control of a field, by its type. The service checks the length of a text, because browsers count characters in another way. */
export function FieldInput({ field, value, mistake, isNew, disabled, onChange }: FieldInputProps) {
  const { name, type, description, required, values, to } = field;
  const common = { label: name, description, disabled, error: mistake, required: required && isNew && field.default === undefined };
  const text = typeof value === 'string' ? value : '';
  const typed = { value: text, onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value) };
  if (isSwitch(field)) {
    return (
      <LazyPart
        part={switchField}
        props={{
          ...{ label: name, description, disabled, error: mistake, checked: value === true },
          onChange: ({ currentTarget }) => onChange(currentTarget.checked),
        }}
        lines={1}
      />
    );
  }
  if (type === 'boolean') {
    const chosen = value === null ? null : String(value);
    return (
      <Select {...common} clearable data={BOOLEANS} value={chosen} onChange={(next) => onChange(next === null ? null : next === 'true')} />
    );
  }
  if (values !== undefined) {
    return <Select {...common} clearable={!required} data={[...values]} value={text || null} onChange={(next) => onChange(next)} />;
  }
  if (to !== undefined) return <ReferenceInput {...{ field, value, mistake, isNew, disabled, onChange }} to={to} />;
  if (isListOfTexts(field)) {
    const list = Array.isArray(value) ? value : [];
    if (field.of?.values === undefined) return <TagField {...common} allowsEqual value={list} onChange={(next) => onChange([...next])} />;
    return <LazyPart part={suggestedTags} props={{ ...common, data: [...field.of.values], value: [...list], onChange }} lines={2} />;
  }
  if (type === 'json' || type === 'list') {
    return <LazyPart part={jsonField} props={{ ...common, value: text, onChange }} lines={2} />;
  }
  if (type === 'text') return <LongText {...common} {...typed} />;
  if (type === 'password') return <LazyPart part={passwordField} props={{ ...common, ...typed }} lines={2} />;
  if (type === 'timestamp') return <TimestampField {...common} value={text} onChange={onChange} />;
  if (type === 'string') return <LineInput {...common} {...typed} />;
  return <TextInput {...common} {...typed} {...inputOf(field)} />;
}

type TypedHandler = (event: { readonly currentTarget: { readonly value: string } }) => void;

/** A field of one line, or of several after a value had a line break, which one line would hide and lose. */
function LineInput({ onChange, ...props }: Omit<ComponentProps<typeof LongText>, 'onChange'> & { onChange: TypedHandler }) {
  const [isLong, setLong] = useState(false);
  if (!isLong && hasLineBreak(props.value)) setLong(true);
  return isLong ? <LongText {...props} onChange={onChange} /> : <TextInput {...props} onChange={onChange} />;
}

/** Returns the keyboard of a text field. */
function inputOf({ type }: Field) {
  switch (type) {
    case 'date':
      return { type: 'date' };
    case 'integer':
      return { inputMode: 'numeric' as const };
    case 'number':
    case 'decimal':
      return { inputMode: 'decimal' as const };
    case 'email':
      return { type: 'email' };
    case 'url':
      return { type: 'url' };
    default:
      return {};
  }
}

function ReferenceInput({ field, value, mistake, isNew, disabled, onChange, to }: FieldInputProps & { readonly to: string }) {
  const { data } = useQuery(ownCatalogueQuery);
  const { name, description, required } = field;
  const target = data?.resources.find(({ definition }) => definition.name === to)?.definition;
  const text = typeof value === 'string' && value !== '' ? value : undefined;
  if (target === undefined) {
    // The caller may not use the resource, but may know the id of a record.
    return (
      <TextInput
        {...{ label: name, description, disabled, error: mistake, required: required && isNew }}
        value={text ?? ''}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <RecordPicker
      resource={target}
      label={name}
      {...(description !== undefined && { description })}
      {...(mistake !== undefined && { error: mistake })}
      disabled={disabled}
      required={required && isNew}
      value={text}
      onChange={(id) => onChange(id ?? null)}
    />
  );
}
