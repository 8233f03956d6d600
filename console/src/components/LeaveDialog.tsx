import { Button, Group, Text } from '@mantine/core';
import { Dialog } from './Dialog.tsx';
import type { LeaveTexts } from './unsaved-changes.ts';

/** Properties of the question. */
interface LeaveDialogProps {
  readonly isOpen: boolean;
  readonly texts: LeaveTexts;
  onStay(): void;
  onLeave(): void;
}

/** Asks if unsaved changes may be lost, or if an import may be stopped. */
export function LeaveDialog({ isOpen, texts, onStay, onLeave }: LeaveDialogProps) {
  return (
    <Dialog opened={isOpen} onClose={onStay} title={texts.title}>
      <Text mb="md">{texts.detail}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onStay} data-autofocus>
          {texts.stay}
        </Button>
        <Button color="red" onClick={onLeave}>
          {texts.leave}
        </Button>
      </Group>
    </Dialog>
  );
}
