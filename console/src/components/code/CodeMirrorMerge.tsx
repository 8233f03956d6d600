import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './CodeEditor.module.css';
import { editorExtensions, languageExtensions } from './code-extensions.ts';
import type { CodeMergeProps } from './code-merge-props.ts';

/** Colours of differences with a contrast of at least 4.5 in both schemes. */
const THEME = EditorView.theme({
  '.cm-deletedChunk': { backgroundColor: 'light-dark(#fff5f5, #3b1d1d)', paddingInlineEnd: '0' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'light-dark(#ebfbee, #173420) !important', textDecoration: 'none' },
  '.cm-deletedChunk .cm-deletedText, .cm-changedText': { background: 'none !important', textDecoration: 'underline' },
  '.cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
  // Beside the text, the buttons would cover it on a phone.
  '.cm-deletedChunk .cm-chunkButtons': { position: 'static', display: 'flex', gap: '8px', padding: '4px' },
  '.cm-deletedChunk .cm-chunkButtons button': {
    cursor: 'pointer',
    font: 'inherit',
    color: 'var(--mantine-color-text)',
    background: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-dimmed)',
    borderRadius: 'var(--mantine-radius-sm)',
    padding: '2px 8px',
    margin: '0',
  },
});

/** A CodeMirror editor that shows each difference from another text above it, with a button that takes the other text. */
export function CodeMirrorMerge({ label, language, initial, other, controls, onChange }: CodeMergeProps) {
  const parent = useRef<HTMLDivElement>(null);
  const report = useRef(onChange);
  useEffect(() => {
    report.current = onChange;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor keeps the text that its user has typed
  useEffect(() => {
    if (parent.current === null) return undefined;
    const listener = EditorView.updateListener.of(({ docChanged, state }) => docChanged && report.current(state.doc.toString()));
    const merge = unifiedMergeView({
      original: other,
      mergeControls: (type, act) => createButton(type === 'reject' ? controls.take : controls.keep, act),
    });
    const extensions = [editorExtensions(label), languageExtensions(language), merge, THEME, listener];
    const editor = new EditorView({ state: EditorState.create({ doc: initial, extensions }), parent: parent.current });
    return () => editor.destroy();
  }, []);
  return <div ref={parent} className={classes['editor'] ?? ''} />;
}

function createButton(text: string, act: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.addEventListener('click', act);
  return button;
}
