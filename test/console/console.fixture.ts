/** Tests of the console in a browser: a service with the newsroom example, and pages of a browser that shows its console. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, inject, it as register } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import type { BrowserProgram } from './chromium.ts';
import { type ContextOptions, createContext, startBrowser, WINDOW_SIZES } from './console-browser.ts';
import { fillNewsroom, type Story } from './newsroom-story.ts';
import { collectProblems } from './page-problems.ts';
import { trackRequests } from './page-requests.ts';

/** A service with its console. */
export interface ConsoleService extends RunningService {
  /** Address of the console, without a `/` at the end. */
  readonly console: string;
}

/** The window and the user of a page. */
interface VisitOptions extends ContextOptions {
  /**
   * Opens the page in a context of its own, for a test that signs out or changes what the browser stores. By default, the tests of a file share
   * the context of a user and its page, whose process has loaded the scripts.
   */
  readonly isolated?: boolean;
}

/** The browser of one test. */
export interface Visitor {
  /** Opens a page of the console, signed in as a user. */
  open(service: ConsoleService, path: string, options?: VisitOptions): Promise<Page>;
  /** Returns the problems of all pages so far. Every problem that is not allowed fails the test. */
  problems(): readonly string[];
  /** Allows problems that the test causes on purpose. */
  allow(pattern: RegExp): void;
  /** Leaves the pages of the test, and returns their problems. */
  leave(): Promise<readonly string[]>;
}

/** A browser context, and the problems of its pages. */
interface WatchedContext {
  readonly context: BrowserContext;
  readonly isShared: boolean;
  readonly isSignedIn: boolean;
  /** Grows while the pages run. */
  readonly problems: string[];
  /** The page of an earlier test, for the next test: a new page starts a process, which takes longer than to load the console again. */
  parked?: Page | undefined;
  /** Ends what a test has changed in a page. The page then runs no script. */
  restore(page: Page): Promise<void>;
}

/** The browser contexts that the tests of a file share. */
interface SharedContexts {
  /** Returns the context of a user at a service. The first call creates it; each call for an isolated context creates one. */
  open(service: ConsoleService, options: VisitOptions): Promise<WatchedContext>;
  close(): Promise<void>;
}

/** One browser for all tests of this process. */
let started: Promise<Browser> | undefined;

function sharedBrowser(program: BrowserProgram | undefined): Promise<Browser> {
  if (program === undefined) throw new Error('expected a browser');
  started ??= startBrowser(program);
  return started;
}

/** Starts a service with its console. */
export async function startConsole(options: Parameters<typeof startService>[0]): Promise<ConsoleService> {
  const service = await startService(options);
  return { ...service, console: `${service.url}/console` };
}

/** Registers a test that opens pages of the console. The service `newsroom` is shared by the tests of a file; `story` fills it with data. */
export const it = register
  .extend('project', { scope: 'file' }, 'examples/newsroom')
  .extend('newsroom', { scope: 'file' }, async ({ project }, { onCleanup }) => {
    const service = await startConsole({ project });
    onCleanup(() => service.close());
    return service;
  })
  .extend('story', { scope: 'file' }, async ({ newsroom }): Promise<Story> => {
    const story = await fillNewsroom(newsroom);
    await story.work();
    return story;
  })
  .extend('program', { scope: 'file' }, () => inject('browser'))
  .extend('contexts', { scope: 'file' }, async ({ program }, { onCleanup }) => {
    const contexts = createSharedContexts(() => sharedBrowser(program));
    onCleanup(() => contexts.close());
    return contexts;
  })
  .extend('visitor', async ({ skip, program, contexts }, { onCleanup }): Promise<Visitor> => {
    skip(program === undefined, 'there is no browser');
    const visitor = createVisitor(contexts);
    onCleanup(async () => expect(await visitor.leave()).toEqual([]));
    return visitor;
  });

/** Creates contexts of a browser, which starts with the first of them. */
function createSharedContexts(browser: () => Promise<Browser>): SharedContexts {
  const shared = new Map<string, Promise<WatchedContext>>();
  const create = async (service: ConsoleService, { isolated = false, ...options }: VisitOptions): Promise<WatchedContext> => {
    const context = await createContext(await browser(), service, options);
    const problems = await collectProblems(context);
    return {
      context,
      isShared: !isolated,
      isSignedIn: options.as !== undefined,
      problems,
      restore: (page) => restorePage(page, service, options),
    };
  };
  return {
    open(service, options) {
      if (options.isolated === true) return create(service, options);
      const key = JSON.stringify([service.url, options.as?.email, options.size, options.scheme]);
      const found = shared.get(key) ?? create(service, options);
      shared.set(key, found);
      return found;
    },
    async close() {
      await Promise.all([...shared.values()].map(async (opened) => (await opened).context.close()));
    },
  };
}

/** Creates the browser of one test. */
function createVisitor(contexts: SharedContexts): Visitor {
  const used = new Set<WatchedContext>();
  const allowed: RegExp[] = [];
  const problems = (): readonly string[] =>
    [...used].flatMap((each) => each.problems).filter((problem) => !allowed.some((pattern) => pattern.test(problem)));
  return {
    problems,
    allow: (pattern) => void allowed.push(pattern),
    async open(service, path, options = {}) {
      const watched = await contexts.open(service, options);
      used.add(watched);
      const page = await takePage(watched);
      await page.goto(`${service.console}${path}`);
      return page;
    },
    async leave() {
      await Promise.all([...used].map(leaveContext));
      const found = problems();
      for (const each of used) each.problems.length = 0;
      return found;
    },
  };
}

/** Returns the page of an earlier test, or a new one. */
async function takePage(watched: WatchedContext): Promise<Page> {
  const { context, parked } = watched;
  watched.parked = undefined;
  if (parked !== undefined) return parked;
  const page = await context.newPage();
  trackRequests(page);
  return page;
}

/** Leaves the pages of a test. A shared context is then as it was before the test, and keeps one page. */
async function leaveContext(watched: WatchedContext): Promise<void> {
  const { context, isShared, isSignedIn } = watched;
  if (!isShared) return context.close();
  // The test has signed in. Its session is also in the local storage.
  const hasSignedIn = !isSignedIn && (await context.cookies()).length > 0;
  const pages = context.pages();
  const [kept] = hasSignedIn ? [] : pages;
  if (kept !== undefined) await watched.restore(kept);
  watched.parked = kept;
  await Promise.all(pages.filter((page) => page !== kept).map((page) => page.close()));
  if (hasSignedIn) await context.setStorageState({ cookies: [], origins: [] });
}

async function restorePage(page: Page, service: ConsoleService, { size = 'desktop', scheme = 'light' }: ContextOptions): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // A file without scripts. It has the origin of the console, so that the browser keeps the process of the page.
  await page.goto(`${service.console}/favicon.svg`);
  await page.evaluate('sessionStorage.clear()');
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(WINDOW_SIZES[size]);
  // The pointer would enter the elements that the next address shows there.
  await page.mouse.move(0, 0);
}
