import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useMemo } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import type { Operator } from '../condition/operand-forms.ts';
import type { NamesById } from '../names-by-id.ts';
import type { TraceVocabulary } from './condition-words.ts';
import type { DeniedUpdate } from './denied-update.ts';

const NO_OPERATORS: readonly Operator[] = [];

/** The names of the users and records whose ids the conditions of an explanation compare. */
export const NamesContext: React.Context<NamesById> = createContext<NamesById>({});

/** The denied update that an explanation is about. */
export const UpdateContext: React.Context<DeniedUpdate | undefined> = createContext<DeniedUpdate | undefined>(undefined);

/** Returns the labels of operators, which are absent until the catalogue is loaded, the names of users and records, and the denied update. */
export function useTraceVocabulary(): TraceVocabulary {
  const operators = useQuery(catalogueQuery).data?.operators ?? NO_OPERATORS;
  const names = useContext(NamesContext);
  const update = useContext(UpdateContext);
  return useMemo(() => ({ operators, names, update }), [operators, names, update]);
}
