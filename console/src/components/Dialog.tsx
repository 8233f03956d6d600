import type { DrawerProps, ModalProps } from '@mantine/core';
import { useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { createPart, LazyPart, type Part } from './LazyPart.tsx';

const dialog = createPart<ModalProps>(async () => (await import('./dialog-surfaces.tsx')).DialogSurface);
const sideDialog = createPart<DrawerProps>(async () => (await import('./dialog-surfaces.tsx')).SideDialogSurface);

/** Properties of a dialog. */
interface DialogProps extends ModalProps {
  /** True while its request runs. It then stays open, because it says what became of the request. */
  readonly isBusy?: boolean;
}

/** A dialog in the middle of the window. Its code is loaded when a dialog first opens. */
export function Dialog({ isBusy = false, onClose, ...props }: DialogProps) {
  const close = (): void => {
    if (!isBusy) onClose();
  };
  const closeButton = isBusy && { closeButtonProps: { 'aria-label': commonTexts.close, disabled: true } };
  return <OpenedPart part={dialog} props={{ ...props, ...closeButton, onClose: close }} />;
}

/** A dialog at the side of the window. Its code is loaded when a dialog first opens. */
export function SideDialog(props: DrawerProps) {
  return <OpenedPart part={sideDialog} props={props} />;
}

/** Renders a part from the moment at which it is first opened. */
function OpenedPart<Props extends { readonly opened: boolean }>({ part, props }: { readonly part: Part<Props>; readonly props: Props }) {
  const [wasOpened, setWasOpened] = useState(props.opened);
  if (props.opened && !wasOpened) setWasOpened(true);
  return wasOpened ? <LazyPart part={part} props={props} lines={0} /> : null;
}
