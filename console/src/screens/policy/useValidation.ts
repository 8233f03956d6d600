import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { Finding, PolicyDifference } from '../../api/policies.ts';
import type { Issue } from '../../api/problem.ts';
import type { ValidationProgress } from '../../components/useEmptyMistake.ts';
import { type DraftJson, toChange } from './policy-draft.ts';

/** The answer to a validation. */
export interface Validation {
  readonly valid: boolean;
  readonly errors: readonly Issue[];
  readonly warnings?: readonly Finding[];
  readonly differences?: readonly PolicyDifference[];
}

/** The state of a validation. */
export interface ValidationState extends ValidationProgress {
  readonly result: Validation | undefined;
  readonly error: unknown;
  /** Validates the draft again after a failed request. */
  retry(): void;
  /** Shows all mistakes until there are none. */
  onTry(): void;
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
  const isStale = settled !== draft || query.isFetching;
  const [isTried, setTried] = useState(false);
  if (isTried && !isStale && query.data?.valid === true) setTried(false);
  return { result: query.data, isStale, error: query.error, retry: () => void query.refetch(), isTried, onTry: () => setTried(true) };
}

/** Validates a draft, and compares it with the stored policy. */
export async function validatePolicy(draft: DraftJson, id: string | undefined, signal?: AbortSignal): Promise<Validation> {
  const body = { ...toChange(draft), ...(id !== undefined && { id }) } as Schemas['admin.PolicyChange'];
  return (await bodyOf(client.POST('/admin/api/policies/validate', { body, ...(signal && { signal }) }))).data;
}
