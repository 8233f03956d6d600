import { JsonInput, type JsonInputProps, PasswordInput, type PasswordInputProps, TagsInput, type TagsInputProps } from '@mantine/core';

/** A field for several texts that suggests the values of an enum. */
export function SuggestedTags(props: TagsInputProps) {
  return <TagsInput {...props} allowDuplicates />;
}

/** A field for any JSON. */
export function JsonField(props: JsonInputProps) {
  return <JsonInput {...props} autosize minRows={3} maxRows={16} formatOnBlur />;
}

/** A field for a new password. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput {...props} autoComplete="new-password" />;
}
