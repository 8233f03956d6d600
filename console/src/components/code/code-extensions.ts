/** The extensions of the code editor: keys, colours, languages and suggestions. */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { contentNonce } from '../../content-security.ts';
import type { CodeEditorProps, CodeSuggestion } from './code-editor-props.ts';

/** Returns a colour with a contrast of at least 4.5 in both schemes. */
function color(name: string): string {
  return `light-dark(var(--mantine-color-${name}-9), var(--mantine-color-${name}-3))`;
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: color('blue') },
  { tag: [tags.string, tags.special(tags.string)], color: color('teal') },
  { tag: [tags.number, tags.bool, tags.null], color: color('grape') },
  { tag: [tags.keyword, tags.operator], color: color('violet') },
  { tag: [tags.comment, tags.meta], color: 'var(--mantine-color-dimmed)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: 'var(--mantine-font-size-sm)', backgroundColor: 'transparent', color: 'var(--mantine-color-text)' },
  '.cm-content': { fontFamily: 'var(--mantine-font-family-monospace)', caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: 'transparent', border: 'none' },
  '&.cm-focused': { outline: 'none' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground, ::selection': {
    backgroundColor: 'light-dark(var(--mantine-color-blue-1), var(--mantine-color-blue-9))',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--mantine-primary-color-filled)', color: 'white' },
  '.cm-diagnostic': { color: 'var(--mantine-color-text)' },
});

/** Returns the extensions of every editor. Tab leaves the editor, as in all other fields. */
export function editorExtensions(label: string): Extension {
  return [
    EditorView.cspNonce.of(contentNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorView.lineWrapping,
    history(),
    bracketMatching(),
    indentUnit.of('  '),
    syntaxHighlighting(HIGHLIGHT),
    THEME,
    keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
}

/** Returns the extensions of a language and its suggestions. */
export function languageExtensions(language: CodeEditorProps['language'], suggestions: readonly CodeSuggestion[] = []): Extension {
  const completions = suggestions.map(toCompletion);
  const complete = (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: completions, validFor: /^[\w.]*$/ };
  };
  const suggesting = autocompletion({ override: completions.length > 0 ? [complete] : [], icons: false });
  if (language === 'expression') return suggesting;
  return [language === 'json' ? json() : yaml(), lintGutter(), suggesting];
}

function toCompletion({ label, detail, kind }: CodeSuggestion): Completion {
  return { label, type: kind, ...(detail !== undefined && { detail }) };
}
