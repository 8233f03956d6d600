import { useEffect } from 'react';
import { hasKeptChanges } from '../api/tab-storage.ts';
import { useCaller } from './useSession.ts';

/** Asks before the page is closed while the tab keeps unsaved changes of screens that are not open. */
export function useKeptGuard(): void {
  const { id: userId } = useCaller();
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (hasKeptChanges(userId)) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [userId]);
}
