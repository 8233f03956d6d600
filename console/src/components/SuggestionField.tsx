import { TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { placeBeside } from './place-beside.ts';
import classes from './SuggestionField.module.css';
import { filterSuggestions, type SuggestionGroup } from './suggestions.ts';
import { useClosingScroll } from './useClosingScroll.ts';

/** Properties of a text field with suggestions. */
interface SuggestionFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'onFocus' | 'onBlur' | 'onKeyDown' | 'onClick'> {
  readonly value: string;
  readonly groups: readonly SuggestionGroup[];
  onChange(value: string): void;
}

/** Maximum number of suggestions. */
const MAX_SHOWN = 80;

/** A text field with suggestions that contain the typed text. The arrow keys choose one, Enter takes it. Any other text is accepted as well. */
export function SuggestionField({ value, groups, onChange, ...field }: SuggestionFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  // All suggestions are shown until the text changes.
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(-1);
  const shown = filterSuggestions(groups, search, MAX_SHOWN);
  const items = shown.flatMap((group) => group.items);
  const isShown = isOpen && items.length > 0;
  useEffect(() => {
    if (isShown) showBelow(list.current, input.current);
    else list.current?.hidePopover();
  }, [isShown]);
  useClosingScroll(list, isShown, () => setOpen(false));
  useEffect(() => {
    if (active >= 0) list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const open = (text: string): void => {
    setSearch(text);
    setActive(-1);
    setOpen(true);
  };
  const take = (item: string): void => {
    setOpen(false);
    onChange(item);
  };
  const press = (event: KeyboardEvent): void => {
    const { key } = event;
    const chosen = items[active];
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      if (isShown) setActive((active + (key === 'ArrowDown' ? 1 : -1) + items.length) % items.length);
      else open('');
    } else if (key === 'Enter' && isShown && chosen !== undefined) {
      event.preventDefault();
      take(chosen);
    } else if (key === 'Escape' && isShown) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <>
      <TextInput
        {...field}
        ref={input}
        classNames={{ input: classes['input'] ?? '' }}
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={id}
        {...(isShown && active >= 0 && { 'aria-activedescendant': `${id}${active}` })}
        value={value}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value);
          open(currentTarget.value);
        }}
        onFocus={() => open('')}
        onClick={() => open('')}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <SuggestionList ref={list} id={id} label={field['aria-label']} groups={shown} active={items[active]} onTake={take} />
    </>
  );
}

interface SuggestionListProps {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly id: string;
  readonly label: string | undefined;
  readonly groups: readonly SuggestionGroup[];
  /** The suggestion that Enter takes. */
  readonly active: string | undefined;
  onTake(item: string): void;
}

/** The suggestions, by group. The focus stays in the field, whose keys choose one. */
function SuggestionList({ ref, id, label, groups, active, onTake }: SuggestionListProps) {
  const items = groups.flatMap((group) => group.items);
  return (
    <div ref={ref} id={id} role="listbox" aria-label={label} popover="manual" className={classes['list']}>
      {groups.map(({ group, items: members }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options
        <div key={group} role="group" aria-label={group}>
          <div className={classes['group']} aria-hidden="true">
            {group}
          </div>
          {members.map((item) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={item}
              id={`${id}${items.indexOf(item)}`}
              role="option"
              tabIndex={-1}
              aria-selected={item === active}
              className={classes['option']}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onTake(item)}
            >
              {item}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

function showBelow(list: HTMLElement | null, input: HTMLElement | null): void {
  if (list === null || input === null || list.matches(':popover-open')) return;
  const rect = input.getBoundingClientRect();
  const { top, bottom, maxHeight } = placeBeside(rect, { width: innerWidth, height: innerHeight });
  const left = Math.max(8, Math.min(rect.left, innerWidth - 308));
  Object.assign(list.style, { top, bottom, maxHeight: `min(320px, ${maxHeight})`, left: `${left}px` });
  list.showPopover();
}
