import { createPart, LazyPart } from '../LazyPart.tsx';
import type { CodeEditorProps } from './code-editor-props.ts';

const part = createPart<CodeEditorProps>(async () => (await import('./CodeMirrorEditor.tsx')).CodeMirrorEditor);

/** A code editor, which is loaded when it is first shown. */
export function CodeEditor(props: CodeEditorProps) {
  return <LazyPart part={part} props={props} lines={4} />;
}
