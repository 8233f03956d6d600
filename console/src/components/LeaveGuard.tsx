import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { commonTexts } from '../texts/common.ts';
import { LeaveDialog } from './LeaveDialog.tsx';
import { addUnsavedChanges, type LeaveTexts } from './unsaved-changes.ts';

/** Properties of the guard. */
interface LeaveGuardProps {
  readonly isDirty: boolean;
  /** The words of the question. By default, it is about unsaved changes. */
  readonly texts?: LeaveTexts;
  /** Returns true for the path of a screen on which the changes are kept. */
  isKeptAt?(path: string): boolean;
  /** Called before the changes are lost. */
  onLeave?(): void;
}

/** Asks before unsaved changes are lost: when another screen opens, when the user signs out, and when the page is closed. */
export function LeaveGuard({ isDirty, texts = commonTexts.unsaved, isKeptAt, onLeave }: LeaveGuardProps) {
  const blocker = useBlocker({
    // Tabs of the screen are in the search parameters.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname && isKeptAt?.(next.pathname) !== true,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  useEffect(() => (isDirty ? addUnsavedChanges(texts) : undefined), [isDirty, texts]);
  const isBlocked = blocker.status === 'blocked';
  const stay = () => isBlocked && blocker.reset();
  const leave = () => {
    onLeave?.();
    if (isBlocked) blocker.proceed();
  };
  return <LeaveDialog isOpen={isBlocked} texts={texts} onStay={stay} onLeave={leave} />;
}
