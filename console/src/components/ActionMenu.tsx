import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId, useRef, useState } from 'react';
import classes from './ActionMenu.module.css';
import { placeBeside } from './place-beside.ts';
import { useClosingScroll } from './useClosingScroll.ts';

/** An action of a menu. */
export interface MenuAction {
  readonly key: string;
  readonly label: ReactNode;
  /** The accessible name of an action whose label is a symbol. */
  readonly name?: string;
  readonly isDisabled?: boolean;
  readonly isDangerous?: boolean;
  /** True for an action in the same line as the one before it. */
  readonly isBeside?: boolean;
  perform(): void;
}

/** Properties of the button that opens a menu. */
interface MenuButtonProps {
  readonly id: string;
  readonly popoverTarget: string;
  readonly 'aria-haspopup': 'menu';
}

/** Properties of a menu. */
interface ActionMenuProps {
  readonly actions: readonly MenuAction[];
  /** A text above the actions. */
  readonly note?: string | undefined;
  /** Renders the button, which names the menu. */
  button(props: MenuButtonProps): ReactNode;
  onToggle?(isOpen: boolean): void;
}

/**
 * A menu of actions. It is a popover of the browser, which shows it above everything else, closes it and returns the focus. The arrow keys, Home
 * and End move between the actions.
 */
export function ActionMenu({ actions, note, button, onToggle }: ActionMenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useClosingScroll(menu, isOpen, () => menu.current?.hidePopover());
  const toggle = ({ newState }: ToggleEvent): void => {
    setOpen(newState === 'open');
    onToggle?.(newState === 'open');
  };
  return (
    <>
      {button({ id: `${id}button`, popoverTarget: id, 'aria-haspopup': 'menu' })}
      <div
        ref={menu}
        id={id}
        popover="auto"
        className={classes['menu']}
        onBeforeToggle={({ newState, currentTarget }) => newState === 'open' && prepare(currentTarget, `${id}button`)}
        onToggle={toggle}
      >
        {note !== undefined && <div className={classes['note']}>{note}</div>}
        <div role="menu" aria-labelledby={`${id}button`} onKeyDown={moveFocus} className={classes['actions']}>
          {actions.map(({ key, label, name, isDisabled = false, isDangerous = false, isBeside = false, perform }) => (
            <button
              key={key}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-label={name}
              disabled={isDisabled}
              className={`${classes['action']} ${isDangerous ? classes['dangerous'] : ''} ${isBeside ? classes['beside'] : ''}`}
              onClick={() => {
                // Before the action, because a dialog that it opens returns the focus to the present element.
                menu.current?.hidePopover();
                perform();
              }}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
    </>
  );
}

/** Places a menu beside its button, and marks its first action, to which the browser gives the focus. */
function prepare(menu: HTMLElement, button: string): void {
  for (const [index, action] of actionsOf(menu).entries()) action.toggleAttribute('autofocus', index === 0);
  const rect = document.getElementById(button)?.getBoundingClientRect();
  if (rect !== undefined) Object.assign(menu.style, placeBeside(rect, { width: innerWidth, height: innerHeight }));
}

function actionsOf(menu: HTMLElement | null): readonly HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? [])];
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget } = event;
  const actions = actionsOf(currentTarget);
  const present = actions.indexOf(document.activeElement as HTMLElement);
  const targets: Readonly<Record<string, number>> = { ArrowDown: present + 1, ArrowUp: present - 1, Home: 0, End: -1 };
  const target = targets[key];
  // Tab leaves the menu from its button, to which the focus returns.
  if (key === 'Tab') currentTarget.parentElement?.hidePopover();
  if (target === undefined) return;
  event.preventDefault();
  actions.at(target % actions.length)?.focus();
}
