import { Button, type ButtonProps } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { type MouseEvent, useId, useRef } from 'react';
import classes from './GuardedButton.module.css';
import { LockMark } from './LockMark.tsx';
import { placeBeside } from './place-beside.ts';

/** The attribute of a focused element whose Escape does not close the dialog. */
const KEEPS_DIALOG = 'data-mantine-stop-propagation';

/** Properties of a button of an action that may be refused. */
interface GuardedButtonProps extends ButtonProps {
  /** The reason why the action would be refused; undefined if it would not. */
  readonly refusal: string | undefined;
  onClick(): void;
}

/**
 * A button that says why it does nothing if its action would be refused. It can be reached with the keyboard, and the pointer, the focus and a tap
 * show the reason. It stays while the pointer is on it, and Escape hides it. Another Escape closes the dialog of the button.
 */
export function GuardedButton({ refusal, onClick, ...button }: GuardedButtonProps) {
  return refusal === undefined ? <Button {...button} onClick={onClick} /> : <RefusedButton {...button} refusal={refusal} />;
}

function RefusedButton({ refusal, ...properties }: ButtonProps & { readonly refusal: string }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const hint = useRef<HTMLDivElement>(null);
  const show = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    const { current } = hint;
    if (current === null || current.matches(':popover-open')) return;
    Object.assign(current.style, placeBeside(currentTarget.getBoundingClientRect(), { width: innerWidth, height: innerHeight }));
    current.showPopover();
    button.current?.setAttribute(KEEPS_DIALOG, 'true');
  };
  const hide = (): void => {
    hint.current?.hidePopover();
    button.current?.removeAttribute(KEEPS_DIALOG);
  };
  /** Hides the reason if the pointer has left both the button and the reason. */
  const leave = ({ relatedTarget }: MouseEvent): void => {
    const isEntered = relatedTarget instanceof Node && (hint.current?.contains(relatedTarget) || button.current?.contains(relatedTarget));
    if (!isEntered) hide();
  };
  useWindowEvent('keydown', ({ key }) => key === 'Escape' && hide());
  return (
    <>
      <Button
        {...properties}
        ref={button}
        leftSection={<LockMark />}
        data-disabled
        aria-disabled
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={leave}
        onFocus={show}
        onBlur={hide}
        onClick={show}
      />
      <div ref={hint} id={id} role="tooltip" popover="manual" className={classes['hint']} onMouseLeave={leave}>
        {refusal}
      </div>
    </>
  );
}
