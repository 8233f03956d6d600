import { InputBase, type InputBaseProps } from '@mantine/core';
import type { ChangeEvent } from 'react';
import classes from './LongText.module.css';

/** Properties of the field. */
interface LongTextProps extends InputBaseProps {
  readonly value: string;
  onChange(event: ChangeEvent<HTMLTextAreaElement>): void;
}

/** A field for a text of several lines, which is as high as its text. The browser measures it. */
export function LongText(props: LongTextProps) {
  return <InputBase {...props} component="textarea" multiline classNames={{ input: classes['text'] ?? '' }} />;
}
