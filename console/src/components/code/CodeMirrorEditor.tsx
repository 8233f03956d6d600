import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './CodeEditor.module.css';
import type { CodeEditorProps, CodeMistake } from './code-editor-props.ts';
import { editorExtensions, languageExtensions } from './code-extensions.ts';

/** Marks changes of the text that the page has made, which are not reported back to it. */
const isFromPage = Annotation.define<boolean>();

/** A CodeMirror editor whose text the page owns. */
export function CodeMirrorEditor({ label, language, value, suggestions, mistakes, minHeight = 44, onChange }: CodeEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const languages = useRef(new Compartment());
  const report = useRef(onChange);
  useEffect(() => {
    report.current = onChange;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effects below update the editor
  useEffect(() => {
    if (parent.current === null) return undefined;
    const listener = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
      if (docChanged && !transactions.some((each) => each.annotation(isFromPage))) report.current(state.doc.toString());
    });
    const extensions = [editorExtensions(label), languages.current.of(languageExtensions(language, suggestions)), listener];
    const editor = new EditorView({ state: EditorState.create({ doc: value, extensions }), parent: parent.current });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);
  useEffect(() => {
    view.current?.dispatch({ effects: languages.current.reconfigure(languageExtensions(language, suggestions)) });
  }, [language, suggestions]);
  useEffect(() => {
    const present = view.current?.state.doc.toString();
    if (present === undefined || present === value) return;
    view.current?.dispatch({ changes: { from: 0, to: present.length, insert: value }, annotations: isFromPage.of(true) });
  }, [value]);
  useEffect(() => {
    const { current } = view;
    if (current) current.dispatch(setDiagnostics(current.state, toDiagnostics(mistakes ?? [], current.state.doc.length)));
  }, [mistakes]);
  return <div ref={parent} className={classes['editor'] ?? ''} style={{ minHeight }} />;
}

function toDiagnostics(mistakes: readonly CodeMistake[], length: number): readonly Diagnostic[] {
  // The text may have become shorter since the mistakes were found.
  return mistakes.map((each) => ({ ...each, from: Math.min(each.from, length), to: Math.min(each.to, length) }));
}
