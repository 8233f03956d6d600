import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useMemo } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import type { Operator } from '../condition/operand-forms.ts';
import type { TraceVocabulary, UserNames } from './condition-words.ts';

const NO_OPERATORS: readonly Operator[] = [];

/** The names of the users whose ids the conditions of an explanation compare. */
export const UserNamesContext: React.Context<UserNames> = createContext<UserNames>({});

/** Returns the labels of operators, which are absent until the catalogue is loaded, and the names of users. */
export function useTraceVocabulary(): TraceVocabulary {
  const operators = useQuery(catalogueQuery).data?.operators ?? NO_OPERATORS;
  const users = useContext(UserNamesContext);
  return useMemo(() => ({ operators, users }), [operators, users]);
}
