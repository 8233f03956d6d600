import { CatchBoundary } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { loadPart } from '../components/load-part.ts';
import { subscribeMessages } from '../components/notify.ts';

const MessageList = lazy(async () => ({ default: (await loadPart(() => import('./MessageList.tsx'))).MessageList }));

/** The place of the messages of `notify.ts`. Their list is loaded with the first message. The page works without it. */
export function Messages() {
  const [hasMessages, setHasMessages] = useState(false);
  useEffect(() => subscribeMessages(() => setHasMessages(true)), []);
  if (!hasMessages) return null;
  return (
    <CatchBoundary getResetKey={() => undefined} errorComponent={() => null}>
      <Suspense>
        <MessageList />
      </Suspense>
    </CatchBoundary>
  );
}
