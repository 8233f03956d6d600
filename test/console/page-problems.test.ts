import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { returnContext, sharedBrowser, takeContext, takePage } from './context-pool.ts';
import { findAccessibilityFaults, findSidewaysScroll } from './screen-checks.ts';

/** Shows that the checks of the other tests can fail. */
describe('a browser context', () => {
  it('begins without the cookies and the storage of an earlier test', async ({ newsroom, program, visitor: _ }) => {
    const browser = await sharedBrowser(program);
    const first = await takeContext(browser, newsroom, { as: await newsroom.admin(), isolated: true });
    await (await takePage(first)).evaluate(`localStorage.setItem('left', '1'); sessionStorage.setItem('left', '1')`);
    expect(await first.context.cookies()).toHaveLength(1);
    await returnContext(first, newsroom, { isolated: true });
    const second = await takeContext(browser, newsroom, {});
    expect(second.context).toBe(first.context);
    expect(await second.context.cookies()).toEqual([]);
    expect(await (await takePage(second)).evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    await returnContext(second, newsroom, {});
  });
});

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

  it('the accessibility check reports a button without a name in an open dialog', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.evaluate(`document.body.append(Object.assign(document.createElement('div'), { role: 'dialog', ariaLabel: 'Open' }));
      document.querySelector('[role="dialog"]').append(document.createElement('button'))`);
    expect(await findAccessibilityFaults(page)).toContainEqual(expect.stringContaining('button-name'));
  });

  it('the accessibility check reports a text of low contrast with the rules about colours', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/');
    await page.evaluate(`document.body.append(Object.assign(document.createElement('p'), { textContent: 'faint' }));
      Object.assign(document.querySelector('body > p').style, { color: '#444', background: '#333' })`);
    expect(await findAccessibilityFaults(page, 'colours')).toContainEqual(expect.stringContaining('color-contrast'));
  });

  it('the layout check reports an element that is wider than the window', async ({ newsroom, visitor }) => {
    const page = await visitor.open(newsroom, '/', { size: 'phone' });
    expect(await findSidewaysScroll(page)).toEqual([]);
    await page.evaluate('document.body.append(Object.assign(document.createElement("pre"), { textContent: "w".repeat(200) }))');
    expect(await findSidewaysScroll(page)).toContainEqual(expect.stringContaining('pre.'));
  });
});
