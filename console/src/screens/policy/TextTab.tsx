import { lazy, Suspense } from 'react';
import { LoadingLines } from '../../components/QueryState.tsx';
import type { TextTabProps } from './PolicyTextEditor.tsx';

const PolicyTextEditor = lazy(async () => ({ default: (await import('./PolicyTextEditor.tsx')).PolicyTextEditor }));

/** The draft as text. The editor and the parser of YAML are loaded with the tab. */
export function TextTab(props: TextTabProps) {
  return (
    <Suspense fallback={<LoadingLines count={10} />}>
      <PolicyTextEditor {...props} />
    </Suspense>
  );
}
