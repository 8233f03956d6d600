import type { CodeEditorProps } from './code-editor-props.ts';

/** Properties of an editor that compares its text with another one. */
export interface CodeMergeProps extends Pick<CodeEditorProps, 'label' | 'onChange'> {
  readonly language: 'json' | 'yaml';
  /** The text that the editor begins with. */
  readonly initial: string;
  /** The other text, whose differences are shown. */
  readonly other: string;
  /** The names of the buttons at each difference. */
  readonly controls: { readonly take: string; readonly keep: string };
}
