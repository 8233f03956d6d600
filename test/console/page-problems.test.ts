import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { findAccessibilityFaults, findSidewaysScroll } from './screen-checks.ts';

/** Shows that the checks of the other tests can fail. */
describe('checks of pages', () => {
  it.for<readonly [kind: string, script: string, problem: string]>([
    ['an error in the console', 'console.error("wrong")', 'console error: wrong'],
    ['an uncaught error', 'setTimeout(() => { throw new Error("uncaught") })', 'uncaught error: Error: uncaught'],
    ['a rejected promise', 'void Promise.reject(new Error("rejected"))', 'uncaught error: Error: rejected'],
    ['a response with an error status', 'void fetch("/api/Nothing")', 'response 404: GET /api/Nothing'],
    [
      'a style without the nonce',
      'document.head.append(Object.assign(document.createElement("style"), { textContent: "a {}" }))',
      'style-src-elem',
    ],
    ['markup written by a script', 'setTimeout(() => { document.body.innerHTML = "<b>bold</b>" })', 'the console writes no markup'],
    ['a request to another host', 'void fetch("http://127.0.0.2:9/").catch(() => undefined)', 'connect-src'],
  ])('a page fails its test for %s', async ([, script, problem], { newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.evaluate(script);
    await expect.poll(() => visitor.problems()).toContainEqual(expect.stringContaining(problem));
    visitor.allow(/./);
  });

  it('the accessibility check reports a button without a name', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.evaluate('document.body.append(document.createElement("button"))');
    expect(await findAccessibilityFaults(page)).toContainEqual(expect.stringContaining('button-name'));
  });

  it('the accessibility check reports a text of low contrast in the dark scheme', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.evaluate(`document.body.append(Object.assign(document.createElement('p'), { textContent: 'faint' }));
      Object.assign(document.querySelector('body > p').style, { color: '#444', background: '#333' })`);
    expect(await findAccessibilityFaults(page, 'dark')).toContainEqual(expect.stringContaining('color-contrast'));
  });

  it('the layout check reports an element that is wider than the window', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { size: 'phone' });
    expect(await findSidewaysScroll(page)).toEqual([]);
    await page.evaluate('document.body.append(Object.assign(document.createElement("pre"), { textContent: "w".repeat(200) }))');
    expect(await findSidewaysScroll(page)).toContainEqual(expect.stringContaining('pre.'));
  });
});
