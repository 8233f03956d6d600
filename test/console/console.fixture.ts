/** Tests of the console in a browser: a service with the newsroom example, and pages of a browser that shows its console. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, it as register } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { collectProblems } from './page-problems.ts';

/** Sizes of a window. */
export const WINDOW_SIZES: Readonly<Record<'desktop' | 'phone', { readonly width: number; readonly height: number }>> = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 375, height: 812 },
};

/** A service with its console. */
export interface ConsoleService extends RunningService {
  /** Address of the console, without a `/` at the end. */
  readonly console: string;
}

/** Options of a visit. */
export interface VisitOptions {
  /** The user who is signed in. By default, no user is. */
  readonly as?: Pick<TestUser, 'email' | 'password'>;
  /** Default: `desktop`. */
  readonly size?: keyof typeof WINDOW_SIZES;
  /** Default: `light`. */
  readonly scheme?: 'light' | 'dark';
}

/** The browser of one test. */
export interface Visitor {
  /** Opens a page of the console in a browser without cookies, signed in as a user. */
  open(service: ConsoleService, path: string, options?: VisitOptions): Promise<Page>;
  /** Returns the problems of all pages so far. Every problem that is not allowed fails the test. */
  problems(): readonly string[];
  /** Allows problems that the test causes on purpose. */
  allow(pattern: RegExp): void;
}

/** One browser for all tests of this process. Its pipe ends with the process, which ends the browser. */
let started: Promise<Browser> | undefined;

function startBrowser(): Promise<Browser> {
  const program = inject('browser');
  if (program === undefined) throw new Error('expected a browser');
  started ??= chromium.launch({
    executablePath: program.path,
    env: { ...process.env, ...program.env },
    // Chromium has no sandbox for the user root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  return started;
}

/** Starts a service with its console. */
export async function startConsole(options: Parameters<typeof startService>[0]): Promise<ConsoleService> {
  const service = await startService(options);
  return { ...service, console: `${service.url}/console` };
}

/** Registers a test that opens pages of the console. The service `newsroom` is shared by the tests of a file. */
export const it = register
  .extend('project', { scope: 'file' }, 'examples/newsroom')
  .extend('newsroom', { scope: 'file' }, async ({ project }, { onCleanup }) => {
    const service = await startConsole({ project });
    onCleanup(() => service.close());
    return service;
  })
  .extend('visitor', async ({ skip }, { onCleanup }): Promise<Visitor> => {
    skip(inject('browser') === undefined, 'there is no browser');
    const contexts: { readonly context: BrowserContext; readonly found: readonly string[] }[] = [];
    const patterns: RegExp[] = [];
    const problems = (): readonly string[] =>
      contexts.flatMap(({ found }) => found).filter((problem) => !patterns.some((pattern) => pattern.test(problem)));
    onCleanup(async () => {
      await Promise.all(contexts.map(({ context }) => context.close()));
      expect(problems()).toEqual([]);
    });
    return {
      problems,
      allow: (pattern) => void patterns.push(pattern),
      async open(service, path, { as: user, size = 'desktop', scheme = 'light' } = {}) {
        const browser = await startBrowser();
        const context = await browser.newContext({
          locale: 'en-US',
          timezoneId: 'Europe/Berlin',
          viewport: WINDOW_SIZES[size],
          colorScheme: scheme,
          reducedMotion: 'reduce',
          ...(user !== undefined && { storageState: signedIn(service) }),
        });
        contexts.push({ context, found: await collectProblems(context) });
        if (user !== undefined) await openSession(context, service, user);
        const page = await context.newPage();
        await page.goto(`${service.console}${path}`);
        return page;
      },
    };
  });

/** Returns the storage of a browser in which the console has a session. The console resumes a session only then. */
function signedIn(service: ConsoleService): NonNullable<BrowserContextOptions['storageState']> {
  const { origin } = new URL(service.console);
  return { cookies: [], origins: [{ origin, localStorage: [{ name: 'bailiwick-signed-in', value: 'true' }] }] };
}

/** Signs a user in with the request that the sign-in page sends, because most tests begin after it. */
async function openSession(
  context: BrowserContext,
  service: ConsoleService,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
): Promise<void> {
  const response = await context.request.post(new URL('/auth/session', service.console).href, {
    data: { email, password },
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  if (!response.ok()) throw new Error(`expected a session, given ${response.status()}: ${await response.text()}`);
}
