import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { LeaveDialog } from './LeaveDialog.tsx';
import { addUnsavedChanges } from './unsaved-changes.ts';

/** Asks before unsaved changes are lost: when another screen opens, when the user signs out, and when the page is closed. */
export function LeaveGuard({ isDirty, onLeave }: { readonly isDirty: boolean; onLeave?(): void }) {
  const blocker = useBlocker({
    // Tabs of the screen are in the search parameters.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  useEffect(() => (isDirty ? addUnsavedChanges() : undefined), [isDirty]);
  const isBlocked = blocker.status === 'blocked';
  const stay = () => isBlocked && blocker.reset();
  const leave = () => {
    onLeave?.();
    if (isBlocked) blocker.proceed();
  };
  return <LeaveDialog isOpen={isBlocked} onStay={stay} onLeave={leave} />;
}
