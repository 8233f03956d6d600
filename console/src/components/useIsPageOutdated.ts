import { useSyncExternalStore } from 'react';
import { isPageOutdated, subscribePageVersion } from '../api/page-version.ts';

/** Returns true if the service was updated while this page is open, and renders again when that changes. */
export function useIsPageOutdated(): boolean {
  return useSyncExternalStore(subscribePageVersion, isPageOutdated);
}
