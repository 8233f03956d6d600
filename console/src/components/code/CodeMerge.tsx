import { lazy, Suspense } from 'react';
import { LoadingLines } from '../QueryState.tsx';
import type { CodeMergeProps } from './code-merge-props.ts';

const MergeEditor = lazy(async () => ({ default: (await import('./CodeMirrorMerge.tsx')).CodeMirrorMerge }));

/** A code editor that compares its text with another one. It is loaded when it is first shown. */
export function CodeMerge(props: CodeMergeProps) {
  return (
    <Suspense fallback={<LoadingLines count={8} />}>
      <MergeEditor {...props} />
    </Suspense>
  );
}
