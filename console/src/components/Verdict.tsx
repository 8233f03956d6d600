import { commonTexts } from '../texts/common.ts';
import classes from './Verdict.module.css';

const LOOKS = {
  true: { look: classes['allowed'], mark: '✓', text: commonTexts.allowed },
  false: { look: classes['denied'], mark: '✕', text: commonTexts.denied },
  undefined: { look: classes['unknown'], mark: '?', text: commonTexts.unknown },
} as const;

/**
 * A badge that says with a mark, a word and a colour if a request was allowed. It consists of plain elements, because tables have one in each of
 * many rows. Undefined is unknown.
 */
export function Verdict({ allowed, label }: { readonly allowed: boolean | undefined; readonly label?: string }) {
  const { look, mark, text } = LOOKS[`${allowed}` as keyof typeof LOOKS];
  return (
    <span className={`${classes['verdict']} ${look}`}>
      <span aria-hidden="true">{mark}</span>
      <span>{label ?? text}</span>
    </span>
  );
}
