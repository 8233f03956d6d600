import type { BrowserContext } from 'playwright-core';

/** Reports violations of the content security policy to the test. A string, because the tests are compiled without the types of a browser. */
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, sample }) =>
  reportViolation([violatedDirective, blockedURI, sourceFile, sample].join(' ')));`;

/**
 * Collects the problems of all pages of a context: errors in the browser's console, uncaught errors, requests that fail, responses with an
 * error status, and violations of the content security policy. The returned list grows while the pages run.
 */
export async function collectProblems(context: BrowserContext): Promise<string[]> {
  const problems: string[] = [];
  context.on('console', (message) => {
    // The browser prints each error status too. The event `response` has its method and path.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource:'))
      problems.push(`console error: ${message.text()}`);
  });
  context.on('weberror', (error) => problems.push(`uncaught error: ${error.error().stack ?? error.error().message}`));
  context.on('requestfailed', (request) => {
    // A page ends its requests when it is left.
    const reason = request.failure()?.errorText ?? 'unknown reason';
    if (reason !== 'net::ERR_ABORTED') problems.push(`request failed: ${request.method()} ${pathOf(request.url())}: ${reason}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 400) problems.push(`response ${response.status()}: ${response.request().method()} ${pathOf(response.url())}`);
  });
  await context.exposeFunction('reportViolation', (text: string) => problems.push(`content security policy: ${text}`));
  await context.addInitScript({ content: REPORT_VIOLATIONS });
  return problems;
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
