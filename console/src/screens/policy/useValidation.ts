import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { Finding, PolicyDifference } from '../../api/policies.ts';
import type { Issue } from '../../api/problem.ts';
import { type DraftJson, toChange } from './policy-draft.ts';

/** The answer to a validation. */
export interface Validation {
  readonly valid: boolean;
  readonly errors: readonly Issue[];
  readonly warnings?: readonly Finding[];
  readonly differences?: readonly PolicyDifference[];
}

/** The state of a validation. */
export interface ValidationState {
  readonly result: Validation | undefined;
  /** True while the result is that of an earlier draft. */
  readonly isStale: boolean;
  readonly error: unknown;
}

/** Milliseconds after the last change of a draft. */
const DELAY = 300;

/** Validates a draft 300 ms after its last change. With an id, it is a change of that policy. */
export function useValidation(draft: DraftJson, id: string | undefined): ValidationState {
  const [settled] = useDebouncedValue(draft, DELAY);
  const query = useQuery({
    queryKey: ['policies', 'validation', id, settled],
    queryFn: ({ signal }) => validatePolicy(settled, id, signal),
    placeholderData: keepPreviousData,
  });
  return { result: query.data, isStale: settled !== draft || query.isFetching, error: query.error };
}

/** Validates a draft, and compares it with the stored policy. */
export async function validatePolicy(draft: DraftJson, id: string | undefined, signal?: AbortSignal): Promise<Validation> {
  const body = { ...toChange(draft), ...(id !== undefined && { id }) } as Schemas['admin.PolicyChange'];
  return (await bodyOf(client.POST('/admin/api/policies/validate', { body, ...(signal && { signal }) }))).data;
}
