/** The setting of a browser that turns off the keys of one character. Speech input and slips of the hand can press them. */

/** Item of the local storage. */
const ITEM = 'bailiwick-character-keys';

/** Returns false if the keys of one character are turned off in this browser. */
export function hasCharacterKeys(storage: Pick<Storage, 'getItem'> = localStorage): boolean {
  return storage.getItem(ITEM) !== 'off';
}

/** Turns the keys of one character on or off. */
export function keepCharacterKeys(isOn: boolean, storage: Pick<Storage, 'setItem'> = localStorage): void {
  storage.setItem(ITEM, isOn ? 'on' : 'off');
}
