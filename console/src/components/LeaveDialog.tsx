import { Button, Group, Text } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';
import { Dialog } from './Dialog.tsx';

const texts = commonTexts.unsaved;

/** Properties of the question. */
interface LeaveDialogProps {
  readonly isOpen: boolean;
  onStay(): void;
  onLeave(): void;
}

/** Asks if unsaved changes may be lost. */
export function LeaveDialog({ isOpen, onStay, onLeave }: LeaveDialogProps) {
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
