import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';

/** The surface of a dialog in the middle of the window. */
export function DialogSurface({ opened, ...props }: ModalProps) {
  return <Modal {...props} opened={useOpening(opened) && opened} />;
}

/** The surface of a dialog at the side of the window. */
export function SideDialogSurface({ opened, ...props }: DrawerProps) {
  return <Drawer {...props} opened={useOpening(opened) && opened} />;
}

/**
 * Opens a dialog after its first render, because only then the library remembers the focus, and returns the focus when the dialog closes. A dialog
 * that is removed while it is open returns the focus here.
 */
function useOpening(opened: boolean): boolean {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(opened), [opened]);
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return isOpen;
}
