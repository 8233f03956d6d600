/** The keys that every screen understands. */

/** An action that a key performs. */
export type KeyAction = 'palette' | 'help' | 'search' | 'next' | 'previous' | 'open' | 'select';

const ACTIONS: Readonly<Record<string, KeyAction>> = {
  '?': 'help',
  '/': 'search',
  j: 'next',
  k: 'previous',
  enter: 'open',
  x: 'select',
};

/** The members of an event of the keyboard that decide its action. */
export type PressedKey = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'defaultPrevented'>;

/** An element in which a key was pressed. */
export interface KeyTarget {
  readonly tagName: string;
  /** The kind of an `input`. */
  readonly type?: string;
  readonly isContentEditable?: boolean;
}

/**
 * Returns the action of a pressed key; undefined if it has none, if it is typed into a field, or if it is a character and those are turned off. The
 * character counts, not the key: on some keyboards `/` needs Shift, and on others `?` does not.
 */
export function toKeyAction(pressed: PressedKey, target: KeyTarget, hasCharacters = true): KeyAction | undefined {
  const { key, ctrlKey, metaKey, altKey, defaultPrevented } = pressed;
  if (defaultPrevented || isTyping(target)) return undefined;
  const name = key.toLowerCase();
  if (ctrlKey !== metaKey && !altKey) return name === 'k' ? 'palette' : undefined;
  if (!hasCharacters && name.length === 1) return undefined;
  // Some keyboards type `/` and `?` with AltGr, which counts as Ctrl and Alt.
  const isCharacter = name === '/' || name === '?';
  return isCharacter || (!ctrlKey && !altKey) ? ACTIONS[name] : undefined;
}

/** Kinds of `input` that take no characters. */
const WITHOUT_CHARACTERS: ReadonlySet<string | undefined> = new Set(['checkbox', 'radio', 'button', 'submit', 'file']);

function isTyping({ tagName, type, isContentEditable = false }: KeyTarget): boolean {
  if (tagName === 'INPUT') return !WITHOUT_CHARACTERS.has(type);
  return isContentEditable || tagName === 'TEXTAREA' || tagName === 'SELECT';
}
