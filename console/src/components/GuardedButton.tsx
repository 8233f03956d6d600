import { Button, type ButtonProps } from '@mantine/core';
import { useId, useRef } from 'react';
import classes from './GuardedButton.module.css';
import { LockMark } from './LockMark.tsx';
import { placeBeside } from './place-beside.ts';

/** Properties of a button of an action that may be refused. */
interface GuardedButtonProps extends ButtonProps {
  /** The reason why the action would be refused; undefined if it would not. */
  readonly refusal: string | undefined;
  onClick(): void;
}

/**
 * A button that says why it does nothing if its action would be refused. It can be reached with the keyboard, and the pointer, the focus and a tap
 * show the reason.
 */
export function GuardedButton({ refusal, onClick, ...button }: GuardedButtonProps) {
  return refusal === undefined ? <Button {...button} onClick={onClick} /> : <RefusedButton {...button} refusal={refusal} />;
}

function RefusedButton({ refusal, ...button }: ButtonProps & { readonly refusal: string }) {
  const id = useId();
  const hint = useRef<HTMLDivElement>(null);
  const show = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    const { current } = hint;
    if (current === null || current.matches(':popover-open')) return;
    Object.assign(current.style, placeBeside(currentTarget.getBoundingClientRect(), { width: innerWidth, height: innerHeight }));
    current.showPopover();
  };
  const hide = (): void => hint.current?.hidePopover();
  return (
    <>
      <Button
        {...button}
        leftSection={<LockMark />}
        data-disabled
        aria-disabled
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={show}
        onBlur={hide}
        onClick={show}
        onKeyDown={({ key }) => key === 'Escape' && hide()}
      />
      <div ref={hint} id={id} role="tooltip" popover="manual" className={classes['hint']}>
        {refusal}
      </div>
    </>
  );
}
