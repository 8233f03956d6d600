import { Badge } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';

/** The outcome of a decision or of one condition; undefined is unknown. */
export type Outcome = boolean | undefined;

const LOOKS = {
  true: { color: 'green', mark: '✓', text: commonTexts.allowed },
  false: { color: 'red', mark: '✕', text: commonTexts.denied },
  undefined: { color: 'gray', mark: '?', text: commonTexts.unknown },
} as const;

/** A badge that says with a mark, a word and a colour if a request was allowed. */
export function Verdict({ allowed, label }: { readonly allowed: Outcome; readonly label?: string }) {
  const { color, mark, text } = LOOKS[`${allowed}` as keyof typeof LOOKS];
  return (
    <Badge color={color} leftSection={<span aria-hidden="true">{mark}</span>}>
      {label ?? text}
    </Badge>
  );
}
