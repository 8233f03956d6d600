import { Button, Group, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { commonTexts } from '../texts/common.ts';
import { Dialog } from './Dialog.tsx';

const texts = commonTexts.unsaved;

/** Asks before unsaved changes are lost: when another screen opens, and when the page is closed. */
export function LeaveGuard({ isDirty, onLeave }: { readonly isDirty: boolean; onLeave?(): void }) {
  const blocker = useBlocker({
    // Tabs of the screen are in the search parameters.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  const isBlocked = blocker.status === 'blocked';
  const stay = () => isBlocked && blocker.reset();
  const leave = () => {
    onLeave?.();
    if (isBlocked) blocker.proceed();
  };
  return (
    <Dialog opened={isBlocked} onClose={stay} title={texts.title}>
      <Text mb="md">{texts.detail}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={stay} data-autofocus>
          {texts.stay}
        </Button>
        <Button color="red" onClick={leave}>
          {texts.leave}
        </Button>
      </Group>
    </Dialog>
  );
}
