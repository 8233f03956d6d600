/** Tests of the console in a browser: a service with the newsroom example, and pages of a browser that shows its console. */
import type { Browser, Page } from 'playwright-core';
import { expect, inject, it as register } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { type PooledContext, returnContext, sharedBrowser, takeContext, takePage, type VisitOptions } from './context-pool.ts';
import { fillNewsroom, type Story } from './newsroom-story.ts';
import { takePort } from './service-port.ts';

/** A service with its console. */
export interface ConsoleService extends RunningService {
  /** Address of the console, without a `/` at the end. */
  readonly console: string;
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

/** Starts a service with its console. */
export async function startConsole(options: Parameters<typeof startService>[0] = {}): Promise<ConsoleService> {
  const [port, release] = await takePort();
  const consoleFolder = new URL(inject('consoleFolder'));
  const service = await startService({ consoleFolder, ...options, settings: { port, ...options.settings } });
  return {
    ...service,
    console: `${service.url}/console`,
    async close() {
      try {
        await service.close();
      } finally {
        release();
      }
    },
  };
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
  .extend('visitor', async ({ skip, program }, { onCleanup }): Promise<Visitor> => {
    skip(program === undefined, 'there is no browser');
    const visitor = createVisitor(await sharedBrowser(program));
    onCleanup(async () => expect(await visitor.leave()).toEqual([]));
    return visitor;
  });

/** A context that a test has taken. */
interface TakenContext {
  readonly pooled: PooledContext;
  readonly service: ConsoleService;
  readonly options: VisitOptions;
}

/** Creates the browser of one test. */
function createVisitor(browser: Browser): Visitor {
  const taken: TakenContext[] = [];
  const allowed: RegExp[] = [];
  const problems = (): readonly string[] =>
    taken.flatMap(({ pooled }) => pooled.problems).filter((problem) => !allowed.some((pattern) => pattern.test(problem)));
  const take = async (service: ConsoleService, options: VisitOptions): Promise<PooledContext> => {
    const found = taken.find((each) => each.service === service && isSameVisitor(each.options, options));
    if (found !== undefined) return found.pooled;
    const pooled = await takeContext(browser, service, options);
    taken.push({ pooled, service, options });
    return pooled;
  };
  return {
    problems,
    allow: (pattern) => void allowed.push(pattern),
    async open(service, path, options = {}) {
      const page = await takePage(await take(service, options));
      await page.goto(`${service.console}${path}`);
      return page;
    },
    async leave() {
      await Promise.all(taken.map(({ pooled, service, options }) => returnContext(pooled, service, options)));
      const found = problems();
      for (const { pooled } of taken) pooled.problems.length = 0;
      return found;
    },
  };
}

/** Returns true if two pages of a test share a context. */
function isSameVisitor(first: VisitOptions, second: VisitOptions): boolean {
  const keyOf = ({ as, size, scheme }: VisitOptions): string => JSON.stringify([as?.email, size, scheme]);
  return first.isolated !== true && second.isolated !== true && keyOf(first) === keyOf(second);
}
