/** Checks that every screen of the console must pass. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { WINDOW_SIZES } from './console-browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Texts that a page could mistake for markup, or that could break its layout. All are valid names. */
export const HOSTILE_TEXTS: readonly string[] = [
  '<img src=x onerror="globalThis.attacked=1">',
  '"><svg/onload="globalThis.attacked=1">',
  '<script>globalThis.attacked=1</script>',
  'javascript:globalThis.attacked=1',
  '{{constructor.constructor("globalThis.attacked=1")()}}',
  'right\u202Eto left\u202C',
  `word${'w'.repeat(150)}`,
];

/** Waits until the page has applied a colour scheme, and for the transitions of its colours. The animation of a skeleton has no end. */
async function applyScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => Promise.all(
    document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
      .map(({ finished }) => finished.catch(() => undefined)),
  )).then(() => undefined)`);
}

/** Requires that the present screen has no serious finding of axe and does not scroll sideways: light and dark, on a desktop and a phone. */
export async function expectSoundScreen(page: Page): Promise<void> {
  const before = page.viewportSize() ?? WINDOW_SIZES.desktop;
  const findings: string[] = [];
  for (const [name, size] of Object.entries(WINDOW_SIZES)) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await applyScheme(page, colorScheme);
      const found = await findAccessibilityFaults(page);
      findings.push(...found.map((finding) => `${name}, ${colorScheme}: ${finding}`));
    }
    findings.push(...(await findSidewaysScroll(page)).map((finding) => `${name}: ${finding}`));
  }
  await applyScheme(page, 'light');
  await page.setViewportSize(before);
  expect(findings, `findings at ${page.url()}`).toEqual([]);
}

interface AxeViolation {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Returns the findings of axe that are serious or critical. */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${axe} })()`);
  const violations = await page.evaluate<readonly AxeViolation[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`));
}

/** Returns the elements that reach over the right edge of the window, or whose content does, if the page scrolls sideways. */
export async function findSidewaysScroll(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().left + each.scrollWidth > clientWidth + 1);
    const show = (each) => each.tagName.toLowerCase() + '.' + String(each.className) + ' ' + (each.textContent ?? '').slice(0, 60);
    return ['the page is ' + scrollWidth + ' px wide: ' + wide.slice(0, 5).map(show).join('; ')];
  })()`);
}

/** Requires that a page shows a text as text: no element and no script has come from it. */
export async function expectInertText(page: Page, text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
  expect(await page.evaluate('globalThis.attacked ?? "inert"')).toBe('inert');
  expect(await page.evaluate(`document.querySelectorAll('img[src="x"], svg[onload], #root script, a[href^="javascript:"]').length`)).toBe(
    0,
  );
}
