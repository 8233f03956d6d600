/** Checks that every screen of the console must pass. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isDeep } from '../budget.ts';
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

type Scheme = 'light' | 'dark';

/** A look of a page, and the rules of axe that check it: all, those about colours, or none. */
type View = readonly [size: keyof typeof WINDOW_SIZES, scheme: Scheme, rules: 'all' | 'colours' | 'none'];

/** The views of a state of a screen, in an order with few changes of the scheme. */
const STATE_VIEWS: readonly View[] = [
  ['desktop', 'light', 'all'],
  ['phone', 'light', 'none'],
];

/** The views of a screen. States of screens have the same elements in the same colours, except for few. */
const SCREEN_VIEWS: readonly View[] = [
  ['desktop', 'light', 'all'],
  ['phone', 'dark', 'all'],
  ['narrow', 'dark', 'none'],
];

/** The views of each state in `npm run test:deep`, and of screenshots. In the dark scheme, the elements of a page are the same. */
const ALL_VIEWS: readonly View[] = [
  ['desktop', 'light', 'all'],
  ['desktop', 'dark', 'colours'],
  ['phone', 'dark', 'colours'],
  ['narrow', 'dark', 'none'],
  ['phone', 'light', 'all'],
];

/** The folder of screenshots; none by default. */
const SCREENSHOTS = process.env['BAILIWICK_SCREENSHOTS'];
const hasAllViews = isDeep || SCREENSHOTS !== undefined;

/** Waits until the page has applied a colour scheme, and for its transitions. The animation of a skeleton has no end. */
async function applyScheme(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(`(async () => {
    const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
    while (document.documentElement.dataset.mantineColorScheme !== '${colorScheme}') await nextFrame();
    await nextFrame();
    await nextFrame();
    const finite = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity);
    await Promise.all(finite.map(({ finished }) => finished.catch(() => undefined)));
  })()`);
}

/** Number of the next state that this process checks. */
let nextState = 0;

/** Requires that the present state of a screen has no serious finding of axe on a desktop, and does not scroll sideways on a phone. */
export function expectSoundScreen(page: Page): Promise<void> {
  return expectSound(page, hasAllViews ? ALL_VIEWS : STATE_VIEWS);
}

/** Requires that a screen has no serious finding of axe and does not scroll sideways: in light on a desktop, and in dark on a phone and in a narrow window. */
export function expectSoundInBothSchemes(page: Page): Promise<void> {
  return expectSound(page, hasAllViews ? ALL_VIEWS : SCREEN_VIEWS);
}

async function expectSound(page: Page, views: readonly View[]): Promise<void> {
  const before = page.viewportSize() ?? WINDOW_SIZES.desktop;
  const findings: string[] = [];
  const state = nextState++;
  for (const [size, scheme, rules] of views) {
    await page.setViewportSize(WINDOW_SIZES[size]);
    await applyScheme(page, scheme);
    await saveScreenshot(page, `${state}-${size}-${scheme}`);
    const faults = rules === 'none' ? [] : await findAccessibilityFaults(page, rules);
    findings.push(...[...faults, ...(await findSidewaysScroll(page))].map((finding) => `${size}, ${scheme}: ${finding}`));
  }
  await page.setViewportSize(before);
  expect(findings, `findings at ${page.url()}`).toEqual([]);
}

/** Saves a picture of a state that a test checks, if the developer wants to look at it. Its name begins with that of the test. */
async function saveScreenshot(page: Page, view: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  const test = (expect.getState().currentTestName ?? '').replaceAll(/[^a-z0-9]+/gi, '-').slice(-120);
  await page.screenshot({ path: join(SCREENSHOTS, `${test}-${view}.png`), animations: 'disabled' });
}

/**
 * The expression of the rules of axe whose findings are minor or moderate, which the checks ignore. Every finding has the impact of its rule. The
 * rules that find it take a quarter of the time.
 */
const LESSER_RULES = `Object.fromEntries(axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
  .map(({ id }) => [id, { enabled: false }]))`;

/** The rules of axe whose result depends on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** The part of a page that axe checks: an open dialog, because another test checks the screen behind it, or the document. */
const CHECKED_PART = `document.querySelector('[role="dialog"]:not([hidden])') ?? document`;

/** Returns the findings of axe that are serious or critical, of all its rules or of those about colours. */
export async function findAccessibilityFaults(page: Page, rules: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  // A page without the service, or of another build, does not find the file.
  const isLoaded = `'axe' in globalThis || import('/console/assets/axe.js').then(() => true, () => false)`;
  if (!(await page.evaluate<boolean>(isLoaded))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], preload: false, ...(rules === 'colours' && { runOnly: COLOUR_RULES }) };
  const disabled = rules === 'colours' ? '{}' : LESSER_RULES;
  return page.evaluate<
    readonly string[]
  >(`axe.run(${hasAllViews ? 'document' : CHECKED_PART}, { ...${JSON.stringify(options)}, rules: ${disabled} }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => [id, help, html.slice(0, 200), failureSummary].join(': '))))`);
}

/** Returns the elements that reach over the right edge of the window, or whose content does, if the page scrolls sideways. */
export async function findSidewaysScroll(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().left + each.scrollWidth > clientWidth + 1);
    const show = (each) => each.tagName.toLowerCase() + '.' + String(each.className) + ' ' + (each.textContent ?? '').slice(0, 60);
    const innermost = wide.filter((each) => ![...each.children].some((child) => wide.includes(child)));
    return ['the page is ' + scrollWidth + ' px wide: ' + innermost.slice(0, 5).map(show).join('; ')];
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
