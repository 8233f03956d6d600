/** A user with a keyboard and without a mouse. */
import type { Page } from 'playwright-core';

/** Maximum number of keys until a control must have the focus. */
const MAX_KEYS = 60;

/**
 * Returns the name of the element that has the focus, as a screen reader reads it: its label, its texts, or its title. A string, because the
 * tests are compiled without the types of a browser.
 */
const FOCUSED = `(() => {
  const { activeElement: found } = document;
  if (found === null || found === document.body) return '';
  const labelled = (found.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
  const label = [...(found.labels ?? [])].map(({ textContent }) => textContent).join(' ');
  return (found.getAttribute('aria-label') || label || labelled || found.textContent || found.title).trim();
})()`;

/** Presses Tab until the control with this name has the focus. Throws if the keyboard does not reach it. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let key = 0; key < MAX_KEYS; key++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(FOCUSED);
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
    passed.push(focused);
  }
  throw new Error(`expected the keyboard to reach ${name}, reached ${passed.join(' | ')}`);
}

/** Moves to a control with Tab, and presses Enter. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Moves to a field with Tab, and replaces its text. */
export async function typeInto(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Moves to a list with Tab, opens it and chooses an option with the arrow keys. Returns the options. */
export async function choose(page: Page, list: string | RegExp, option: string): Promise<readonly string[]> {
  await tabTo(page, list);
  await page.keyboard.press('Enter');
  const shown = page.getByRole('option').filter({ visible: true });
  await shown.first().waitFor();
  // A list that opens selects its current option in a later task, which would undo the keys before it.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  const options = (await shown.allTextContents()).map((each) => each.trim());
  for (let key = 0; key <= options.length; key++) {
    const selected = await page.locator('[role="option"][data-combobox-selected]').filter({ visible: true }).allTextContents();
    if (selected[0]?.trim() === option) {
      await page.keyboard.press('Enter');
      return options;
    }
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`expected the arrow keys to select ${option} of ${options.join(', ')}`);
}
