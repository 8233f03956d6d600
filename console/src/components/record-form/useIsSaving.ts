import { useIsMutating } from '@tanstack/react-query';

/** The key of the requests with which forms of records save. */
export const SAVING = ['save record'];

/** Returns true while a form of a record saves. Its dialog then stays open, because the form says why the request was refused. */
export function useIsSaving(): boolean {
  return useIsMutating({ mutationKey: SAVING }) > 0;
}
