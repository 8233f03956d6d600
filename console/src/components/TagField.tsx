import { TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { Tag } from './Tag.tsx';
import classes from './TagField.module.css';

/** Properties of a field for tags. */
interface TagFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'onBlur' | 'onKeyDown'> {
  readonly value: readonly string[];
  /** True if the list may have equal items. By default, a text that it has is not added again. */
  readonly allowsEqual?: boolean;
  onChange(tags: readonly string[]): void;
}

/** A text field for several texts: Enter, a comma or leaving the field adds the typed one, Backspace in the empty field removes the last one. */
export function TagField({ value, allowsEqual = false, onChange, ...field }: TagFieldProps) {
  const [typed, setTyped] = useState('');
  const add = (): void => {
    const tag = typed.trim();
    setTyped('');
    if (tag !== '' && (allowsEqual || !value.includes(tag))) onChange([...value, tag]);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Backspace' && typed === '') onChange(value.slice(0, -1));
    if ((event.key !== 'Enter' && event.key !== ',') || typed.trim() === '') return;
    event.preventDefault();
    add();
  };
  return (
    <TextInput
      {...field}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onKeyDown={press}
      onBlur={add}
      inputContainer={(input) => (
        <div className={classes['field']}>
          {value.map((tag, index) => (
            <Tag
              // biome-ignore lint/suspicious/noArrayIndexKey: equal tags differ only by their place
              key={`${index} ${tag}`}
              label={tag}
              removeLabel={commonTexts.removeItem(tag)}
              isDisabled={field.disabled === true}
              onRemove={() => onChange(value.toSpliced(index, 1))}
            />
          ))}
          {input}
        </div>
      )}
    />
  );
}
