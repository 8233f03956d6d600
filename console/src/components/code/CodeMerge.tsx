import { createPart, LazyPart } from '../LazyPart.tsx';
import type { CodeMergeProps } from './code-merge-props.ts';

const part = createPart<CodeMergeProps>(async () => (await import('./CodeMirrorMerge.tsx')).CodeMirrorMerge);

/** A code editor that compares its text with another one. It is loaded when it is first shown. */
export function CodeMerge(props: CodeMergeProps) {
  return <LazyPart part={part} props={props} lines={8} />;
}
