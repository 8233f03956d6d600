import { lazy, Suspense } from 'react';
import { LoadingLines } from '../QueryState.tsx';
import type { CodeEditorProps } from './code-editor-props.ts';

const EditorView = lazy(async () => ({ default: (await import('./CodeMirrorEditor.tsx')).CodeMirrorEditor }));

/** A code editor, which is loaded when it is first shown. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<LoadingLines count={4} />}>
      <EditorView {...props} />
    </Suspense>
  );
}
