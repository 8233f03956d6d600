import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { RunningService, TestUser } from '../harness.ts';
import type { BrowserProgram } from './chromium.ts';

/** Sizes of a window. */
export const WINDOW_SIZES: Readonly<Record<'desktop' | 'phone' | 'narrow', { readonly width: number; readonly height: number }>> = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 375, height: 812 },
  // A desktop of 1280 pixels that is enlarged to 400 percent.
  narrow: { width: 320, height: 568 },
};

/** The window and the user of a browser context. */
export interface ContextOptions {
  /** The user who is signed in. By default, no user is. */
  readonly as?: Pick<TestUser, 'email' | 'password'>;
  /** Default: `desktop`. */
  readonly size?: keyof typeof WINDOW_SIZES;
  /** Default: `light`. */
  readonly scheme?: 'light' | 'dark';
}

/** Milliseconds in which a page shows what it is expected to show. Many, because a busy machine must not fail a test. */
const TIMEOUT = 60_000;

/**
 * Options of V8 that save a quarter of the processor time of the tests. Pages of tests live shortly: the code that the optimizing compilers make
 * would hardly run, and a large young generation is rarely collected before the page is left.
 */
const V8_OPTIONS = ['--no-opt', '--no-maglev', '--min-semi-space-size=64', '--max-semi-space-size=64'];

/** Starts a browser for tests. It ends with this process, because its pipe does. The pages of a context share a process with compiled scripts. */
export function startBrowser(program: BrowserProgram): Promise<Browser> {
  return launch(program, [...(program.args ?? []), '--process-per-site', `--js-flags=${V8_OPTIONS.join(',')}`]);
}

/** Starts a browser that runs scripts as that of a user does, for measurements. */
export function startPlainBrowser(program: BrowserProgram): Promise<Browser> {
  return launch(program, []);
}

function launch({ path, env }: BrowserProgram, args: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    timeout: TIMEOUT,
    // Chromium has no sandbox for the user root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
  });
}

/** Creates a browser context without cookies, or with those of a session of a user. */
export async function createContext(
  browser: Browser,
  { url }: Pick<RunningService, 'url'>,
  options: ContextOptions,
): Promise<BrowserContext> {
  const { as: user, size = 'desktop', scheme = 'light' } = options;
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    viewport: WINDOW_SIZES[size],
    colorScheme: scheme,
    reducedMotion: 'reduce',
    ...(user !== undefined && { storageState: signedIn(url) }),
  });
  context.setDefaultTimeout(TIMEOUT);
  if (user !== undefined) await openSession(context, url, user);
  return context;
}

/** Returns the storage of a browser in which the console has a session. The console resumes a session only then. */
function signedIn(origin: string): NonNullable<BrowserContextOptions['storageState']> {
  return { cookies: [], origins: [{ origin, localStorage: [{ name: 'bailiwick-signed-in', value: 'true' }] }] };
}

/** Signs a user in with the request that the sign-in page sends, because most tests begin after it. */
export async function openSession(
  context: BrowserContext,
  url: string,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
): Promise<void> {
  const response = await context.request.post(`${url}/auth/session`, {
    data: { email, password },
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  if (!response.ok()) throw new Error(`expected a session, given ${response.status()}: ${await response.text()}`);
}
