/** A suggestion of the editor. */
export interface CodeSuggestion {
  readonly label: string;
  readonly detail?: string;
  readonly kind: 'variable' | 'function' | 'keyword';
}

/** A mistake in the text. */
export interface CodeMistake {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Properties of a code editor. */
export interface CodeEditorProps {
  readonly label: string;
  readonly language: 'json' | 'yaml' | 'expression';
  readonly value: string;
  readonly suggestions?: readonly CodeSuggestion[];
  readonly mistakes?: readonly CodeMistake[];
  readonly minHeight?: number;
  onChange(text: string): void;
}
