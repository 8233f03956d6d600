import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import type { NamesById } from '../names-by-id.ts';
import { useRecordNames } from '../record-names.ts';
import { type DecidedTrace, referencesInTraces } from './trace-references.ts';

/** Properties of the names. */
export interface TraceNamesProps {
  readonly decided: readonly DecidedTrace[];
  onNames(names: NamesById): void;
}

/** Loads the names of the records whose ids the conditions of decisions contain. Renders nothing. */
export function TraceNames({ decided, onNames }: TraceNamesProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const names = useRecordNames(referencesInTraces(decided, catalogue?.definitions ?? []));
  useEffect(() => onNames(names), [names, onNames]);
  return null;
}
