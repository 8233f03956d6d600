import { Alert } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { commonTexts } from '../texts/common.ts';
import classes from './Shell.module.css';

/** Says that the browser has no network, as long as it has none. Lists are then loaded again by themselves. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return isOnline ? null : (
    <Alert color="yellow" role="status" mb="md" className={classes['offline'] ?? ''}>
      {commonTexts.network.banner}
    </Alert>
  );
}

function subscribe(listener: () => void): () => void {
  for (const event of ['online', 'offline']) addEventListener(event, listener);
  return () => {
    for (const event of ['online', 'offline']) removeEventListener(event, listener);
  };
}
