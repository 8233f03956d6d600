import { TagsInput, type TagsInputProps } from '@mantine/core';

/** A field for several texts that suggests the values of an enum. */
export function SuggestedTags(props: TagsInputProps) {
  return <TagsInput {...props} />;
}
