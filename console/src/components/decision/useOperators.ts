import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import type { Operator } from '../condition/operand-forms.ts';

const NONE: readonly Operator[] = [];

/** Returns the operators with their labels; none until the catalogue is loaded. */
export function useOperators(): readonly Operator[] {
  return useQuery(catalogueQuery).data?.operators ?? NONE;
}
