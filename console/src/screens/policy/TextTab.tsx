import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import type { TextTabProps } from './PolicyTextEditor.tsx';

const part = createPart<TextTabProps>(async () => (await import('./PolicyTextEditor.tsx')).PolicyTextEditor);

/** The draft as text. The editor and the parser of YAML are loaded with the tab. */
export function TextTab(props: TextTabProps) {
  return <LazyPart part={part} props={props} lines={10} />;
}
