/** Tests of the console in a browser: a service with the newsroom example, and pages of a browser that shows its console. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, inject, it as register } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { type ContextOptions, createContext, startBrowser } from './console-browser.ts';
import { fillNewsroom, type Story } from './newsroom-story.ts';
import { collectProblems } from './page-problems.ts';

/** A service with its console. */
export interface ConsoleService extends RunningService {
  /** Address of the console, without a `/` at the end. */
  readonly console: string;
}

/** The browser of one test. */
export interface Visitor {
  /** Opens a page of the console in a browser without cookies, signed in as a user. */
  open(service: ConsoleService, path: string, options?: ContextOptions): Promise<Page>;
  /** Returns the problems of all pages so far. Every problem that is not allowed fails the test. */
  problems(): readonly string[];
  /** Allows problems that the test causes on purpose. */
  allow(pattern: RegExp): void;
}

/** One browser for all tests of this process. */
let started: Promise<Browser> | undefined;

function sharedBrowser(): Promise<Browser> {
  const program = inject('browser');
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
      async open(service, path, options = {}) {
        const context = await createContext(await sharedBrowser(), service, options);
        contexts.push({ context, found: await collectProblems(context) });
        const page = await context.newPage();
        await page.goto(`${service.console}${path}`);
        return page;
      },
    };
  });
