/**
 * Browser contexts that the tests of this process use in turn, across files. A context of its own for each test would start a process that has
 * compiled no script, which takes longer than most tests.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { RunningService } from '../harness.ts';
import type { BrowserProgram } from './chromium.ts';
import { type ContextOptions, createContext, openSession, startBrowser, WINDOW_SIZES } from './console-browser.ts';
import { collectProblems } from './page-problems.ts';
import { trackRequests } from './page-requests.ts';

type Service = Pick<RunningService, 'url'>;
type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

/** The window and the user of a page. */
export interface VisitOptions extends ContextOptions {
  /** Opens the page with a session of its own, for a test that ends it or needs two browsers of a user. By default, tests share that of a user. */
  readonly isolated?: boolean;
}

/** A browser context, and the problems of its pages. */
export interface PooledContext {
  readonly context: BrowserContext;
  /** Grows while the pages run. */
  readonly problems: string[];
  /** The page of an earlier test, for the next test: a new page starts a process. */
  parked: Page | undefined;
}

/** One browser for all tests of this process. */
let started: Promise<Browser> | undefined;
const free: PooledContext[] = [];
/** The cookies of users that have signed in, so that a later test goes on with their session. */
const sessions = new WeakMap<Service, Map<string, Cookies>>();

/** Returns the browser of this process. The first call starts it. */
export function sharedBrowser(program: BrowserProgram | undefined): Promise<Browser> {
  if (program === undefined) throw new Error('expected a browser');
  started ??= startBrowser(program);
  return started;
}

/** Returns a context that stores nothing but the session of a user. No other test uses it until `returnContext`. */
export async function takeContext(browser: Browser, service: Service, options: VisitOptions): Promise<PooledContext> {
  const pooled = free.pop() ?? (await createPooled(browser, service));
  const { context } = pooled;
  const page = await takePage(pooled);
  await context.clearCookies();
  await resumeSession(context, service, options);
  // The storage belongs to the origin of a page. The address of a file without scripts has it.
  const empty = emptyPage(service);
  if (page.url() !== empty) await page.goto(empty);
  await page.evaluate(`localStorage.clear(); sessionStorage.clear();
    if (${options.as !== undefined}) localStorage.setItem('bailiwick-signed-in', 'true');`);
  await page.emulateMedia({ colorScheme: options.scheme ?? 'light' });
  await page.setViewportSize(WINDOW_SIZES[options.size ?? 'desktop']);
  pooled.parked = page;
  return pooled;
}

/** Returns the page of an earlier test, or a new one. */
export async function takePage(pooled: PooledContext): Promise<Page> {
  const { context, parked } = pooled;
  pooled.parked = undefined;
  if (parked !== undefined && !parked.isClosed()) return parked;
  const page = await context.newPage();
  trackRequests(page);
  return page;
}

/** Leaves the pages of a context, and closes all but one. A later context goes on with the session of the user. */
export async function returnContext(pooled: PooledContext, service: Service, { as: user, isolated }: VisitOptions): Promise<void> {
  const { context } = pooled;
  const [kept, ...others] = context.pages();
  await context.setOffline(false);
  if (kept !== undefined) await leavePage(kept, service);
  await Promise.all(others.map((page) => page.close()));
  if (user !== undefined && isolated !== true) keepSession(service, user.email, await context.cookies());
  pooled.parked = kept;
  free.push(pooled);
}

async function leavePage(page: Page, service: Service): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto(emptyPage(service));
  page.removeAllListeners('dialog');
  // The pointer would enter the elements that the next address shows there.
  await page.mouse.move(0, 0);
}

function emptyPage({ url }: Service): string {
  return `${url}/console/favicon.svg`;
}

/**
 * Stops spinners, skeletons and carets, for each frame of which the browser would draw the page. The page shows after an animation that its
 * scripts are missing.
 */
const STOP_ANIMATIONS = `{
  const still = new CSSStyleSheet();
  still.replaceSync('*:not(#waiting), ::before, ::after { animation: none !important; caret-color: transparent !important }');
  document.adoptedStyleSheets = [still];
}`;

async function createPooled(browser: Browser, service: Service): Promise<PooledContext> {
  const context = await createContext(browser, service, {});
  await context.addInitScript({ content: STOP_ANIMATIONS });
  return { context, problems: await collectProblems(context), parked: undefined };
}

async function resumeSession(context: BrowserContext, service: Service, { as: user, isolated }: VisitOptions): Promise<void> {
  if (user === undefined) return;
  const cookies = isolated === true ? undefined : sessions.get(service)?.get(user.email);
  if (cookies === undefined) await openSession(context, service.url, user);
  else await context.addCookies(cookies);
}

function keepSession(service: Service, email: string, cookies: Cookies): void {
  const kept = sessions.get(service) ?? new Map<string, Cookies>();
  sessions.set(service, kept);
  if (cookies.length > 0) kept.set(email, cookies);
  else kept.delete(email);
}
