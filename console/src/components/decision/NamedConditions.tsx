import { type ReactNode, useMemo, useState } from 'react';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { NamesById } from '../names-by-id.ts';
import type { TraceNamesProps } from './TraceNames.tsx';
import type { DecidedTrace } from './trace-references.ts';
import { NamesContext } from './trace-vocabulary.ts';

// Few conditions compare records.
const traceNames = createPart<TraceNamesProps>(async () => (await import('./TraceNames.tsx')).TraceNames);

/** Matches a value that may be the id of a record: those that the service creates are UUIDs. */
const ID = /"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"/;

const NO_NAMES: NamesById = {};

/** Properties of conditions. */
interface NamedConditionsProps {
  readonly decided: readonly DecidedTrace[];
  /** The names of users that are known already. */
  readonly users?: NamesById | undefined;
  readonly children: ReactNode;
}

/** Conditions whose words have the names of users and records instead of their ids. */
export function NamedConditions({ decided, users = NO_NAMES, children }: NamedConditionsProps) {
  const [records, setRecords] = useState(NO_NAMES);
  const names = useMemo(() => ({ ...records, ...users }), [records, users]);
  const hasIds = decided.some(({ trace }) => ID.test(JSON.stringify(trace)));
  return (
    <NamesContext value={names}>
      {hasIds && <LazyPart part={traceNames} props={{ decided, onNames: setRecords }} lines={0} />}
      {children}
    </NamesContext>
  );
}
